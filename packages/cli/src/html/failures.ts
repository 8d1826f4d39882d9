import type { Mismatch } from '@concord/conformance';
import type { BackendRun, VariantFailure } from '../conformance/backend-run.ts';
import { replayCommand } from '../output/case-summary.ts';
import { plural } from '../output/format.ts';
import { type Html, html } from './html.ts';
import { failuresAnchor } from './matrix.ts';
import { shellWord } from '../output/shell-quote.ts';

/** More failures of one op than this are folded: one of them has mostly told what is wrong. */
const MAX_OPEN = 10;

/** The failing cases of a backend, by op. A link to what is folded opens it: the anchor is inside. */
export function failures({ backend, cases, variants, variantFailures = [], origin = '' }: BackendRun): Html {
  const own = cases.filter(({ status }) => status === 'failed');
  const forced = variants?.forced ?? [];
  const byOp = groupBy([...own.map((result) => ({ ...result, forced })), ...variantFailures], ({ op }) => op);
  return html`${[...byOp].map(
    ([op, failed]) =>
      html`<details ${failed.length <= MAX_OPEN && 'open'}>
        <summary><span class="fail">✗</span> ${op} on ${backend}: ${plural(failed.length, 'failing case')}</summary>
        <div id="${failuresAnchor(backend, op)}">
          ${failed.map((result) => failure(result, `${shellWord(backend)}${origin}`))}
        </div>
      </details> `,
  )}`;
}

/** Why cases are unsupported on a backend: each declared reason, and how many cases it concerns. */
export function unsupportedReasons({ backend, cases }: BackendRun): Html | undefined {
  const unsupported = cases.filter(({ status }) => status === 'unsupported');
  if (unsupported.length === 0) return undefined;
  const byReason = groupBy(unsupported, ({ op, detail }) => `${op}: ${detail ?? 'no reason given'}`);
  return html`<h3>${backend}</h3>
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

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
