import { type BackendRun, labelOf } from '../conformance/backend-run.ts';
import { summarize } from '../conformance/op-summary.ts';
import { type Counts, countsBar, countsText, totalOf } from './counts.ts';
import { type Html, html } from './html.ts';

/** Where the failures of an op on a backend are listed. */
export function failuresAnchor(label: string, op: string): string {
  return `failed-${label}-${op}`;
}

/** The table op by backend. On a narrow screen each row becomes a block. */
export function matrix(runs: readonly BackendRun[]): Html {
  const summaries = runs.map(({ cases }) => new Map(summarize(cases).map((summary) => [summary.op, summary])));
  const ops = [...new Set(summaries.flatMap((byOp) => [...byOp.keys()]))];
  const rows = ops.map(
    (op) =>
      html`<tr>
        <th scope="row">${op}</th>
        ${runs.map((run, i) => cell(run, summaries[i]?.get(op), op))}
      </tr> `,
  );
  const totals = runs.map((run, i) => cell(run, totalOf([...(summaries[i]?.values() ?? [])])));
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
