import { scaleLinear } from 'd3-scale';
import { type Html, html } from '../../html/html.ts';
import type { BenchOp } from '../bench-case.ts';
import { type BenchRow, type BenchRun, ratioOf } from '../bench-run.ts';
import { formatRatio, formatSpeed } from '../format-speed.ts';
import { isFailure, type Measured, speedOf } from '../outcome.ts';
import { sizeOf } from '../size-of.ts';
import { backendKey, measuredBackends, seriesOf } from './series.ts';

/** The cases of an op, and in each a bar for every backend. All bars of an op have one scale, from zero. */
export function opBars(run: BenchRun, op: BenchOp): Html {
  const rows = run.rows.filter(({ benchCase }) => benchCase.op === op);
  const most = Math.max(0, ...rows.flatMap((row) => speedsOf(row).map(({ high }) => high)));
  const percent = scaleLinear([0, most || 1], [0, 100]);
  const unit = rows[0]?.benchCase.unit;
  return html`<section class="card op">
    <h3>${op} <span class="soft">${unit}, the full width is ${formatSpeed(most)}</span></h3>
    ${rows.map((row) => caseBars(run, row, percent))}
  </section> `;
}

function speedsOf({ benchCase, results }: BenchRow): ReturnType<typeof speedOf>[] {
  return results.flatMap(({ outcome }) => (outcome.status === 'measured' ? [speedOf(benchCase, outcome)] : []));
}

type Percent = (speed: number) => number;

function caseBars(run: BenchRun, row: BenchRow, percent: Percent): Html {
  const size = sizeOf(row.benchCase);
  const isSingle = measuredBackends(run).length === 1;
  return html`<div class="case">
    <h4>${row.benchCase.title}${size !== '' && html` <span class="soft">${size}</span>`}</h4>
    ${row.results.map(
      ({ backend, outcome }) =>
        html`<div class="result ${seriesOf(run, backend)}${isSingle && ' single'}">
          ${!isSingle && html`<div class="name">${backendKey(run, backend)}</div>`}
          ${
            outcome.status === 'measured'
              ? bar(run, row, backend, outcome, percent)
              : html`<div class="trouble">
                  <b class="${isFailure(outcome) ? 'fail' : 'none'}">${outcome.status}</b>: ${outcome.detail}
                </div>`
          }
        </div> `,
    )}
  </div> `;
}

function bar(run: BenchRun, row: BenchRow, backend: string, outcome: Measured, percent: Percent): Html {
  const { median, low, high } = speedOf(row.benchCase, outcome);
  const ratio = ratioOf(row, backend, measuredBackends(run)[0]);
  const at = (speed: number): string => `${percent(speed).toFixed(2)}%`;
  return html`<div class="track" aria-hidden="true">
      <div class="fill" style="width:${at(median)}"></div>
      <div class="spread" style="left:${at(low)};width:${at(high - low)}"></div>
    </div>
    <div class="value">
      <b>${formatSpeed(median)}</b>
      <span class="soft">${formatSpeed(low)}–${formatSpeed(high)}</span>
      <span>${ratio !== undefined && formatRatio(ratio).replace('x', '×')}</span>
    </div>`;
}
