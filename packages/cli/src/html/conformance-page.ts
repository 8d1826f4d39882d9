import { type Mismatch, neverRanText } from '@concord/conformance';
import {
  type BackendRun,
  type ConformanceRun,
  labelOf,
  byOp,
  failuresOf,
  type OpSummary,
  totalOf,
  type VariantFailure,
} from '../conformance/backend-run.ts';
import { groupBy } from '../objects.ts';
import { formatDuration, plural } from '../output/format.ts';
import { replayCommand, shellWord } from '../output/shell-quote.ts';
import type { ReportEnvironment } from '../report-environment.ts';
import { type Html, html, type HtmlPart } from './html.ts';
import { card, deviceFacts, notRunFacts, reportPage, type Verdict } from './report-page.ts';

/** A conformance run as an HTML page. */
export function conformancePage(run: ConformanceRun, environment: ReportEnvironment): string {
  const main = conformanceMain(run);
  return reportPage({ name: 'Concord conformance', outcome: conformanceOutcome(run), main }, environment);
}

/** The verdict of each backend, for a title. */
export function conformanceOutcome({ backends }: ConformanceRun): string {
  return backends.map((run) => `${labelOf(run)} ${verdictOf(run).word}`).join(', ');
}

/** The main part of the page of a conformance run, without its heading. */
export function conformanceMain(run: ConformanceRun): Html {
  const { backends } = run;
  const ran = backends.filter(({ notRun }) => notRun === undefined);
  const failing = ran.filter((each) => failuresOf(each).length > 0);
  const counted = ran.flatMap((each) => variantCounts(each) ?? []);
  const reasons = ran.flatMap((each) => unsupportedReasons(each) ?? []);
  return html`
    <p class="soft">${selectionOf(run)}</p>
    <p class="verdict">${backends.map((each, i) => [i > 0 ? ', ' : '', verdict(each)])}</p>
    <div class="cards">${backends.map(backendCard)}</div>
    ${
      ran.length > 0 &&
      html`<h2>By op</h2>
        ${matrix(backends)}`
    }
    ${
      failing.length > 0 &&
      html`<h2>Failing cases</h2>
        ${failing.map(failures)}`
    }
    ${
      reasons.length > 0 &&
      html`<h2>Unsupported, as declared</h2>
        ${reasons}`
    }
    ${
      counted.length > 0 &&
      html`<h2>Kernel variants</h2>
        ${counted}`
    }
    <h2>How to read this</h2>
    <p>
      Every case calls a backend and compares what it wrote with a float64 reference. <b class="pass">Passed</b>: all of
      it is within the bound. <b class="fail">Failed</b>: a value, an error or a byte beside the output is wrong.
      <b class="none">Unsupported</b>: the backend declared beforehand that it does not do this, and refused the call as
      it said. <b class="none">Not run</b>: there was no device.
    </p>
    <p><code>concord info '&lt;case id&gt;'</code> says what a case does, and where its bound comes from.</p>
  `;
}

function verdict(run: BackendRun): Html {
  const { style, word } = verdictOf(run);
  return html`<span class="${style}">${labelOf(run)}: ${word}</span>`;
}

function selectionOf({ selected, filter, sample }: ConformanceRun): Html {
  if (filter === undefined && sample === undefined) return html`All ${plural(selected, 'case')}`;
  return html`Only a part of the suite:
  ${plural(selected, 'case')}${
    filter !== undefined && html` matching <code>${filter}</code>`
  }${sample !== undefined && html`, a sample of ${100 * sample} %`}`;
}

/** One backend: its device and versions and how it did, or why it was not run. */
function backendCard(run: BackendRun): Html {
  const { device, versions, cases, ms, notRun } = run;
  if (notRun !== undefined) {
    const counts: HtmlPart = notRun.isRequired
      ? html`a failure: <code>CONCORD_REQUIRE</code> names it`
      : notRun.isFailure
        ? 'a failure: something was there and broke'
        : 'not run: no failure, no pass';
    return card(labelOf(run), verdictOf(run), [...notRunFacts(notRun), ['Counts as', counts]]);
  }
  const total = totalOf(cases);
  const facts = device === null ? [] : deviceFacts(device);
  if (device?.computeUnits !== undefined) facts.push(['Made of', plural(device.computeUnits, 'compute unit')]);
  for (const [name, version] of Object.entries(versions)) facts.push([VERSION_OF[name] ?? name, version]);
  facts.push(['Time', formatDuration(ms)]);
  return card(labelOf(run), verdictOf(run), facts, html`${countsText(total)}${countsBar(total)}`);
}

/** The result of a backend, in a word or two. */
export function verdictOf({ cases, notRun, variants, variantFailures = [] }: BackendRun): Verdict {
  if (notRun !== undefined) return { style: notRun.isFailure ? 'fail' : 'none', word: 'not run' };
  const { passed, failed } = totalOf(cases);
  if (failed > 0) return { style: 'fail', word: `${failed.toLocaleString('en')} failed` };
  if (variantFailures.length > 0) return { style: 'fail', word: 'failed with variants forced' };
  if (passed > 0 && (variants?.neverRan ?? []).length > 0) return { style: 'fail', word: 'variants not run' };
  return passed > 0 ? { style: 'pass', word: 'passed' } : { style: 'fail', word: 'nothing passed' };
}

/** The names of the parts whose versions a report lists. */
const VERSION_OF: Readonly<Record<string, string>> = {
  conformance: 'Suite',
  driver: 'Driver',
  browser: 'Browser',
};

/** The number of cases by outcome. */
type Counts = Pick<OpSummary, 'passed' | 'failed' | 'unsupported'>;

const KINDS = [
  { name: 'failed', style: 'fail', sign: '✗' },
  { name: 'passed', style: 'pass', sign: '✓' },
  { name: 'unsupported', style: 'none', sign: '–' },
] as const;

/** Counts in words and signs, what is zero left out, failures first. `failuresAt` links to where they are listed. */
function countsText(counts: Counts, failuresAt?: string): Html {
  const words = KINDS.filter(({ name }) => counts[name] > 0).map(({ name, style, sign }) => {
    const text = html`<span class="${style}">${sign} ${counts[name].toLocaleString('en')} ${name}</span>`;
    return name === 'failed' && failuresAt !== undefined ? html`<a href="#${failuresAt}">${text}</a>` : text;
  });
  return html`<div class="counts">${words}</div>`;
}

/** The same as a bar; for the eye only, the words stand beside it. */
function countsBar(counts: Counts): Html {
  const parts = KINDS.filter(({ name }) => counts[name] > 0).map(
    ({ name, style }) => html`<span class="${style}" style="flex-grow:${counts[name]}"></span>`,
  );
  return html`<div class="bar" aria-hidden="true">${parts}</div>`;
}

/** Returns the anchor of the failures of an op on a backend. */
function failuresAnchor(label: string, op: string): string {
  return `failed-${label}-${op}`;
}

/** The table op by backend. On a narrow screen each row becomes a block. */
function matrix(runs: readonly BackendRun[]): Html {
  const rows = byOp(runs).map(
    ([op, summaries]) =>
      html`<tr>
        <th scope="row">${op}</th>
        ${runs.map((run, i) => cell(run, summaries[i], op))}
      </tr> `,
  );
  const totals = runs.map((run) => cell(run, totalOf(run.cases)));
  return html`<table class="matrix">
    <thead>
      <tr>
        <th scope="col">Op</th>
        ${runs.map((run) => html`<th scope="col">${labelOf(run)}</th>`)}
      </tr>
    </thead>
    <tbody>
      ${rows}
    </tbody>
    <tfoot>
      <tr>
        <th scope="row">total</th>
        ${totals}
      </tr>
    </tfoot>
  </table>`;
}

function cell(run: BackendRun, counts: Counts | undefined, op?: string): Html {
  const { notRun } = run;
  const label = labelOf(run);
  const anchor = op === undefined ? undefined : failuresAnchor(label, op);
  const text =
    notRun !== undefined
      ? html`<span class="${notRun.isFailure ? 'fail' : 'none'}">not run</span>`
      : counts === undefined
        ? html`<span class="soft">no cases</span>`
        : html`<div>${countsText(counts, anchor)}${countsBar(counts)}</div>`;
  return html`<td data-backend="${label}">${text}</td>`;
}

/** The most failures of one op that are shown unfolded: one of them has mostly told what is wrong. */
const MAX_OPEN = 10;

/** The failing cases of a backend, by op. A link to what is folded opens it: the anchor is inside. */
function failures(run: BackendRun): Html {
  const { backend, origin = '' } = run;
  const label = labelOf(run);
  return html`${[...groupBy(failuresOf(run), ({ op }) => op)].map(
    ([op, failed]) =>
      html`<details ${failed.length <= MAX_OPEN && 'open'}>
        <summary><span class="fail">✗</span> ${op} on ${label}: ${plural(failed.length, 'failing case')}</summary>
        <div id="${failuresAnchor(label, op)}">
          ${failed.map((result) => failure(result, `${shellWord(backend)}${origin}`))}
        </div>
      </details> `,
  )}`;
}

/** Why cases are unsupported on a backend: each declared reason, and how many cases it concerns. */
function unsupportedReasons(run: BackendRun): Html | undefined {
  const unsupported = run.cases.filter(({ status }) => status === 'unsupported');
  if (unsupported.length === 0) return undefined;
  const byReason = groupBy(unsupported, ({ op, detail }) => `${op}: ${detail ?? 'no reason given'}`);
  return html`<h3>${labelOf(run)}</h3>
    <ul>
      ${[...byReason].map(([reason, { length }]) => html`<li>${reason} <span class="soft">(${plural(length, 'case')})</span></li> `)}
    </ul>`;
}

function failure({ id, detail, mismatch, forced }: VariantFailure, backend: string): Html {
  return html`<article class="failure">
    <h3>${id}</h3>
    ${forced.length > 0 && html`<p>Forced: <code>${forced.join(', ')}</code></p>`}
    ${mismatch === undefined ? html`<pre>${detail ?? 'no detail'}</pre>` : values(mismatch)}
    <p class="small soft">Again: <code>${replayCommand(id, backend, forced)}</code></p>
  </article> `;
}

function values({ what, unit, wrong, total, index, got, want, bound, ulp, inputs }: Mismatch): Html {
  const share = total === 0 ? '' : ` (${percent(wrong / total)})`;
  const rows: [string, string][] = [
    [`First bad ${unit}`, `[${index.toLocaleString('en')}]`],
    ['Got', String(got)],
    ['Want', String(want)],
    ['Bound', bound === 0 ? 'exactly' : `± ${bound.toPrecision(3)}`],
    ['Off by', offBy(got, want, ulp)],
  ];
  if (inputs !== undefined) rows.push(['Computed from', inputs]);
  return html`<p>${what}: ${wrong.toLocaleString('en')} of ${plural(total, unit)} wrong${share}</p>
    <dl class="values">
      ${rows.map(
        ([name, value]) =>
          html`<div>
            <dt>${name}</dt>
            <dd class="number">${value}</dd>
          </div>`,
      )}
    </dl>`;
}

function offBy(got: number, want: number, ulp: number | undefined): string {
  const distance = Math.abs(got - want);
  if (!Number.isFinite(distance)) return 'not a distance';
  const absolute = distance === 0 ? '0' : distance.toPrecision(3);
  return ulp === undefined ? absolute : `${absolute} = ${ulp.toPrecision(3)} ulp`;
}

const percent = (share: number): string => (share < 0.001 ? 'under 0.1 %' : `${(100 * share).toFixed(1)} %`);

/** The number of times that each kernel variant of a backend ran, for one that has variants. */
function variantCounts(run: BackendRun): Html | undefined {
  const { variants, variantFailures } = run;
  if (variants === undefined) return undefined;
  const counted = Object.entries(variants.runs).sort(([, a], [, b]) => b - a);
  return html`<details ${variants.forced.length > 0 && 'open'}>
    <summary>${labelOf(run)}: ${plural(counted.length, 'variant')}</summary>
    ${variants.forced.length > 0 && html`<p>Forced: <code>${variants.forced.join(', ')}</code></p>`}
    ${variantFailures !== undefined && html`<p>After the first run each was forced once.</p>`}
    ${variants.neverRan.length > 0 && html`<p class="fail">${neverRanText(variants)}</p>`}
    ${(variants.excluded ?? []).map(({ id, reason }) => html`<p>Excluded: <code>${id}</code>, ${reason}</p>`)}
    <dl>
      ${counted.map(
        ([id, count]) =>
          html`<dt>${id}</dt>
            <dd>${count.toLocaleString('en')}</dd> `,
      )}
    </dl>
  </details> `;
}
