import type { Mismatch } from '@concord/conformance';
import { type BackendRun, labelOf, type VariantFailure } from '../conformance/backend-run.ts';
import { replayCommand } from '../output/replay-command.ts';
import { groupBy } from '../group-by.ts';
import { plural } from '../output/format.ts';
import { type Html, html } from './html.ts';
import { failuresAnchor } from './matrix.ts';
import { shellWord } from '../output/shell-quote.ts';

/** More failures of one op than this are folded: one of them has mostly told what is wrong. */
const MAX_OPEN = 10;

/** The failing cases of a backend, by op. A link to what is folded opens it: the anchor is inside. */
export function failures(run: BackendRun): Html {
  const { backend, cases, variants, variantFailures = [], origin = '' } = run;
  const label = labelOf(run);
  const own = cases.filter(({ status }) => status === 'failed');
  const forced = variants?.forced ?? [];
  const byOp = groupBy([...own.map((result) => ({ ...result, forced })), ...variantFailures], ({ op }) => op);
  return html`${[...byOp].map(
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
export function unsupportedReasons(run: BackendRun): Html | undefined {
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
