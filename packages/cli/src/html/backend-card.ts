import { type BackendRun, labelOf } from '../conformance/backend-run.ts';
import { summarize } from '../conformance/op-summary.ts';
import { formatBytes, formatDuration, plural } from '../output/format.ts';
import { countsBar, countsText, totalOf } from './counts.ts';
import { type Html, html, type HtmlPart } from './html.ts';

/** One backend: its device and versions and how it did, or why it was not run. */
export function backendCard(run: BackendRun): Html {
  const { style, word } = verdictOf(run);
  return html`<section class="card">
    <header>
      <h3>${labelOf(run)}</h3>
      <span class="badge ${style}">${word}</span>
    </header>
    ${run.notRun === undefined ? results(run) : whyNotRun(run.notRun)}
  </section>`;
}

/** The result of a backend, in a word or two. */
export function verdictOf({ cases, notRun, variants, variantFailures = [] }: BackendRun): {
  readonly style: 'pass' | 'fail' | 'none';
  readonly word: string;
} {
  if (notRun !== undefined) return { style: notRun.isFailure ? 'fail' : 'none', word: 'not run' };
  const { passed, failed } = totalOf(summarize(cases));
  if (failed > 0) return { style: 'fail', word: `${failed.toLocaleString('en')} failed` };
  if (variantFailures.length > 0) return { style: 'fail', word: 'failed with variants forced' };
  if (passed > 0 && (variants?.neverRan ?? []).length > 0) return { style: 'fail', word: 'variants not run' };
  return passed > 0 ? { style: 'pass', word: 'passed' } : { style: 'fail', word: 'nothing passed' };
}

function results({ device, versions, cases, ms }: BackendRun): Html {
  const total = totalOf(summarize(cases));
  const rows: [string, HtmlPart][] = [];
  if (device !== null) {
    rows.push(['Device', `${device.name} (${device.type})`], ['Vendor', device.vendor]);
    if (device.memoryBytes !== undefined) rows.push(['Memory', formatBytes(device.memoryBytes)]);
    if (device.computeUnits !== undefined) rows.push(['Made of', plural(device.computeUnits, 'compute unit')]);
  }
  for (const [name, version] of Object.entries(versions)) rows.push([VERSION_OF[name] ?? name, version]);
  rows.push(['Time', formatDuration(ms)]);
  return html`${countsText(total)}${countsBar(total)}${definitions(rows)}`;
}

function whyNotRun({ message, hint, isRequired, isFailure }: NonNullable<BackendRun['notRun']>): Html {
  const rows: [string, HtmlPart][] = [['Reason', message]];
  if (hint !== null) rows.push(['What to do', hint]);
  if (isRequired) rows.push(['Counts as', html`a failure: <code>CONCORD_REQUIRE</code> names it`]);
  else
    rows.push(['Counts as', isFailure ? 'a failure: something was there and broke' : 'not run: no failure, no pass']);
  return definitions(rows);
}

function definitions(rows: readonly (readonly [string, HtmlPart])[]): Html {
  return html`<dl>
    ${rows.map(
      ([name, value]) =>
        html`<dt>${name}</dt>
          <dd>${value}</dd> `,
    )}
  </dl>`;
}

/** The names of the parts whose versions a report lists. */
const VERSION_OF: Readonly<Record<string, string>> = {
  conformance: 'Suite',
  driver: 'Driver',
  browser: 'Browser',
};
