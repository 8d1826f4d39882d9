import { scaleLinear } from 'd3-scale';
import { type Html, html, type HtmlPart } from '../../html/html.ts';
import { card, deviceFacts, notRunFacts, reportPage, type Verdict } from '../../html/report-page.ts';
import { formatCallTime, formatDuration, formatRatio, formatSpeed, plural } from '../../output/format.ts';
import type { ReportEnvironment } from '../../report-environment.ts';
import { type BenchOp, sizeOf } from '../bench-case.ts';
import {
  type BenchBackend,
  type BenchOutcome,
  type BenchRow,
  type BenchRun,
  hasFailure,
  isFailure,
  type Measured,
  peaksOf,
  ratioOf,
  speedOf,
  spreadOf,
} from '../bench-run.ts';
import { extentOf, pointsOf, roofline, symbolLegend } from './roofline.ts';
import { BENCH_STYLES } from '../../html/styles.ts';

/** A bench run as an HTML page. */
export function benchPage(run: BenchRun, environment: ReportEnvironment): string {
  const page = { name: 'Concord bench', outcome: benchOutcome(run), styles: BENCH_STYLES, main: benchMain(run) };
  return reportPage(page, environment);
}

/** The backends that were measured, for a title. */
export function benchOutcome(run: BenchRun): string {
  return measuredBackends(run).join(', ');
}

/** The main part of the page of a bench run, without its heading. It needs {@link BENCH_STYLES}. */
export function benchMain(run: BenchRun): Html {
  const ops = [...new Set(run.rows.map(({ benchCase }) => benchCase.op))];
  const measured = measuredBackends(run);
  return html`
    <p class="soft">
      ${plural(run.rows.length, 'case')} of size <code>${run.size}</code>${
        run.op !== undefined && html` of the ops <code>${run.op}</code>`
      },
      ${formatDuration(run.ms)} in all
    </p>
    ${run.isPart && html`<p class="verdict none">Interrupted: only a part was measured</p>`}
    ${hasFailure(run) && html`<p class="verdict fail">A result is wrong or an op failed</p>`}
    <div class="cards">${run.backends.map((each) => backendCard(run, each))}</div>
    <h2>Speed by op</h2>
    ${
      measured.length > 1 &&
      html`<div class="legend">${measured.map((backend) => backendKey(run, backend))}</div>
        <p class="soft small">Ratios (×) are to ${measured[0]}.</p>`
    }
    ${ops.map((op) => opBars(run, op))} ${rooflines(run)}
    <h2>All numbers</h2>
    <details>
      <summary>Speeds, times, first calls and rounds</summary>
      ${numbersTable(run)}
    </details>
    ${howToRead(run)}
  `;
}

function backendCard(run: BenchRun, { backend, device, notRun }: BenchBackend): Html {
  const verdict = verdictOf(run, backend, notRun);
  if (device === null) return card(backend, verdict, notRun === undefined ? [] : notRunFacts(notRun));
  const { gflops, gbs } = peaksOf(run, backend);
  const facts = [...deviceFacts(device), ['Driver', device.driver] as const];
  if (gflops !== null) facts.push(['Best speed', `${formatSpeed(gflops)} GFLOP/s`]);
  if (gbs !== null) facts.push(['Best bandwidth', `${formatSpeed(gbs)} GB/s`]);
  return card(backendKey(run, backend), verdict, facts);
}

function verdictOf(run: BenchRun, backend: string, notRun: BenchBackend['notRun']): Verdict {
  if (notRun !== undefined) return { style: notRun.isFailure ? 'fail' : 'none', word: 'not run' };
  const outcomes = run.rows.flatMap(({ results }) => results.filter((result) => result.backend === backend));
  const failures = outcomes.filter(({ outcome }) => isFailure(outcome)).length;
  if (failures > 0) return { style: 'fail', word: `${failures} wrong or failed` };
  const measured = outcomes.filter(({ outcome }) => outcome.status === 'measured').length;
  return { style: measured > 0 ? 'pass' : 'none', word: `${measured} measured` };
}

function rooflines(run: BenchRun): HtmlPart {
  const shown = measuredBackends(run).filter((backend) => pointsOf(run, backend).length > 0);
  const points = shown.flatMap((backend) => pointsOf(run, backend));
  if (points.length === 0) return undefined;
  const extent = extentOf(points);
  return html`<h2>Roofline</h2>
    <p>
      Each sign is a case: how much arithmetic it does for a byte that it has to move, and how fast it does it. Under
      the slope memory sets the pace, under the level arithmetic does. The roof is what this run saw: the best GB/s and
      the best GFLOP/s of any case. Small operands stay in caches, which can be faster than memory.
    </p>
    ${symbolLegend([...new Set(points.map(({ op }) => op))])}
    <div class="plots">
      ${shown.map(
        (backend) =>
          html`<figure class="card ${seriesOf(run, backend)}">
            <figcaption><b>${backendKey(run, backend)}</b></figcaption>
            ${roofline(run, backend, extent)}
          </figure>`,
      )}
    </div>`;
}

function howToRead({ seconds }: BenchRun): Html {
  return html`<h2>How it was measured</h2>
    <p>
      A case is called as often as takes 20 ms before each wait: a round. A bar is the median of the rounds of
      ${seconds} s, the thin line over it reaches from the 10th to the 90th percentile. The backends take turns, one at
      a time. The first call, in which kernels are compiled, is timed separately. Entries of every result are compared
      with the float64 oracle before and after;
      <code>concord conformance</code> does that for all.
    </p>
    <p>
      GFLOP/s count the additions and multiplications that the op is made of, GB/s the bytes that it has to read and
      write: every operand once.
    </p>`;
}

const COLORS = 6;

/** The backends that have a device, in order; ratios are to the first. */
function measuredBackends({ backends }: BenchRun): readonly string[] {
  return backends.filter(({ device }) => device !== null).map(({ backend }) => backend);
}

/** The class that gives a backend its colour. */
function seriesOf(run: BenchRun, backend: string): string {
  return `b${Math.max(0, measuredBackends(run).indexOf(backend)) % COLORS}`;
}

/** The name of a backend beside its colour. */
function backendKey(run: BenchRun, backend: string): Html {
  return html`<span class="${seriesOf(run, backend)}"><span class="key"></span>${backend}</span>`;
}

/** The cases of an op, and in each a bar for every backend. All bars of an op have one scale, from zero. */
function opBars(run: BenchRun, op: BenchOp): Html {
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

/** Every measurement in numbers. */
function numbersTable({ rows }: BenchRun): Html {
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
