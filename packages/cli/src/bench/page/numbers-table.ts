import { type Html, html } from '../../html/html.ts';
import { type BenchRow, type BenchRun } from '../bench-run.ts';
import { formatCallTime, formatSpeed } from '../format-speed.ts';
import { type BenchOutcome, speedOf } from '../outcome.ts';
import { spreadOf } from '../statistics.ts';

/** Every measurement in numbers. */
export function numbersTable({ rows }: BenchRun): Html {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="All numbers">
    <table class="numbers">
      <thead>
        <tr>
          <th scope="col">Case</th>
          <th scope="col">Backend</th>
          <th scope="col">GFLOP/s</th>
          <th scope="col">GB/s</th>
          <th scope="col">A call</th>
          <th scope="col">10–90 %</th>
          <th scope="col">First call</th>
          <th scope="col">Rounds</th>
        </tr>
      </thead>
      <tbody>
        ${rows.flatMap((row) => row.results.map(({ backend, outcome }) => line(row, backend, outcome)))}
      </tbody>
    </table>
  </div>`;
}

function line({ benchCase }: BenchRow, backend: string, outcome: BenchOutcome): Html {
  const start = html`<th scope="row">${benchCase.id}</th>
    <td>${backend}</td>`;
  if (outcome.status !== 'measured') {
    return html`<tr>
      ${start}
      <td class="words" colspan="6">${outcome.status}: ${outcome.detail}</td>
    </tr> `;
  }
  const { median, low, high } = spreadOf(outcome.roundSeconds.map((seconds) => 1000 * seconds));
  const gflops = speedOf({ ...benchCase, unit: 'GFLOP/s' }, outcome).median;
  const gbs = speedOf({ ...benchCase, unit: 'GB/s' }, outcome).median;
  return html`<tr>
    ${start}
    <td>${gflops > 0 ? formatSpeed(gflops) : '–'}</td>
    <td>${formatSpeed(gbs)}</td>
    <td>${formatCallTime(median)}</td>
    <td>${formatCallTime(low)} – ${formatCallTime(high)}</td>
    <td>${formatCallTime(outcome.firstCallMs)}</td>
    <td>${outcome.roundSeconds.length} × ${outcome.callsPerRound.toLocaleString('en')}</td>
  </tr> `;
}
