import type { Output } from '../context.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { formatCallTime, formatDuration, formatRatio, formatSpeed } from '../output/format.ts';
import { createProgress } from '../output/progress.ts';
import { plainTable } from '../output/table.ts';
import { type BenchCase, type BenchOp, sizeOf } from './bench-case.ts';
import { type BenchOutcome, type BenchRun, ratioOf, speedOf } from './bench-run.ts';
import type { BenchListener } from './run-cases.ts';

/** The outputs of a run, and its length. */
export interface BenchPrinterOptions {
  readonly text: Output;
  /** The bar is drawn here, if it is a terminal. */
  readonly terminal: Output;
  /** Measurements to come. */
  readonly total: number;
  readonly seconds: number;
}

/** Shows a run while it happens: a bar with the time that is left on a terminal, a line a measurement elsewhere. */
export function createBenchPrinter(options: BenchPrinterOptions): BenchListener & { stop(): void } {
  const { text, terminal, total, seconds } = options;
  const progress = createProgress(terminal);
  const colors = colorsFor(text);
  const started = performance.now();
  let done = 0;
  const left = (): string => {
    // The plan counts as a few measurements, until there are real ones: warming up and checking take time too.
    const passed = performance.now() - started;
    const perMeasurement = (passed + 3 * 1300 * seconds) / (done + 3);
    const whole = Math.max(1, Math.round((perMeasurement * (total - done)) / 1000));
    return `about ${whole < 60 ? `${whole} s` : formatDuration(1000 * whole)} left`;
  };
  return {
    onStart: ({ op }, backend) => progress.update(done, total, `${op} on ${backend}, ${left()}`),
    onResult(row, backend, outcome) {
      done++;
      if (progress.visible) progress.update(done, total, left());
      else
        text.write(
          `${resultLine(row.benchCase, backend, outcome, colors)} ${colors.dim(`(${done}/${total}, ${left()})`)}\n`,
        );
    },
    stop: () => progress.stop(),
  };
}

function resultLine(benchCase: BenchCase, backend: string, outcome: BenchOutcome, colors: Colors): string {
  const name = `${benchCase.id} on ${backend}:`;
  if (outcome.status !== 'measured') return `${name} ${troubleText(outcome, colors)}`;
  return `${name} ${formatSpeed(speedOf(benchCase, outcome).median)} ${benchCase.unit}`;
}

/** The results: a table for each op, the backends below each other in every case. */
export function benchTables(run: BenchRun, colors: Colors): string {
  const ops = new Set(run.rows.map(({ benchCase }) => benchCase.op));
  return [...ops].map((op) => opTable(run, op, colors)).join('\n\n');
}

function opTable({ rows, backends }: BenchRun, op: BenchOp, colors: Colors): string {
  const ofOp = rows.filter(({ benchCase }) => benchCase.op === op);
  const measured = backends.filter(({ device }) => device !== null).map(({ backend }) => backend);
  const [first] = measured;
  const isSingle = measured.length === 1;
  const unit = ofOp[0]?.benchCase.unit ?? '';
  const lines = ofOp.flatMap((row) =>
    row.results.map(({ backend, outcome }, i) => {
      const name = i > 0 ? '' : nameOf(row.benchCase);
      const start = isSingle ? [name] : [name, backend];
      if (outcome.status !== 'measured')
        return [...start, statusText(outcome, colors), ...BLANK.slice(isSingle ? 1 : 0)];
      const { median, low, high } = speedOf(row.benchCase, outcome);
      const ratio = ratioOf(row, backend, first);
      return [
        ...start,
        colors.bold(formatSpeed(median)),
        `${formatSpeed(low)} - ${formatSpeed(high)}`,
        ...(isSingle ? [] : [ratio === undefined ? '' : formatRatio(ratio)]),
        formatCallTime(outcome.firstCallMs),
      ];
    }),
  );
  const head = [op, ...(isSingle ? [] : ['']), unit, '10-90 %', ...(isSingle ? [] : [`to ${first}`]), 'first call'];
  const right = head.map((_, column) => column).slice(isSingle ? 1 : 2);
  const notes = ofOp.flatMap(({ benchCase, results }) =>
    results.flatMap(({ backend, outcome }) =>
      outcome.status === 'measured' ? [] : [`${nameOf(benchCase)} on ${backend} ${troubleText(outcome, colors)}`],
    ),
  );
  return [plainTable(head, lines, colors, { right }), ...notes].join('\n');
}

function nameOf(benchCase: BenchCase): string {
  const size = sizeOf(benchCase);
  return size === '' ? benchCase.title : `${benchCase.title}: ${size}`;
}

/** The rest of a row without a speed: the table would draw a gap below one with fewer cells. */
const BLANK: readonly string[] = ['', '', ''];

type Trouble = Exclude<BenchOutcome, { status: 'measured' }>;

function statusText({ status }: Trouble, colors: Colors): string {
  const color = status === 'wrong' || status === 'failed' ? colors.red : colors.yellow;
  return color(status === 'wrong' ? 'WRONG' : status);
}

/** The reason why there is no speed. */
function troubleText(outcome: Trouble, colors: Colors): string {
  return `${statusText(outcome, colors)}: ${outcome.detail}`;
}
