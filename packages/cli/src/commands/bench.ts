import { type BackendProvider, printable } from '@concord/backend-core';
import type { BenchOp } from '../bench/bench-case.ts';
import { BENCH_OPS, type BenchSize, matchingOps } from '../bench/bench-ops.ts';
import { type BenchRun, hasFailure } from '../bench/bench-run.ts';
import { toBenchJson } from '../bench/bench-json.ts';
import { benchTables, createBenchPrinter } from '../bench/bench-printer.ts';
import { openBackends, type OpenedBackend } from '../bench/open-backends.ts';
import { runCases } from '../bench/run-cases.ts';
import { selectBenchCases } from '../bench/cases/case-lists.ts';
import { chooseProviders, reportNotRun, requiredBackends } from '../choose-backend.ts';
import type { CommandContext, Output } from '../context.ts';
import { EXIT, worstExit } from '../command-error.ts';
import { withModule } from '../load-module.ts';
import type { ModuleOptions } from '../option-values.ts';
import { type Colors, colorsFor } from '../output/colors.ts';
import { formatDuration, plural } from '../output/format.ts';
import { checkWritable, STDOUT, writeJson } from '../output/output-file.ts';
import { environmentOf } from '../report-environment.ts';

/** Options of `concord bench`. */
export interface BenchOptions extends ModuleOptions {
  readonly backend?: string;
  readonly op?: string;
  readonly size: BenchSize;
  readonly seconds?: number;
  readonly json?: string;
}

const DEFAULT_SECONDS: Readonly<Record<BenchSize, number>> = { small: 0.2, real: 1 };

/** Runs `concord bench`: how fast the backends are on this machine. */
export async function bench(given: CommandContext, options: BenchOptions): Promise<number> {
  const { stdout, stderr } = given;
  const { json } = options;
  if (json !== undefined) await checkWritable(json);
  const { loaded, providers: known } = await withModule(given.providers, options);
  const context = { ...given, providers: known };
  const providers = await providersToMeasure(known, options.backend ?? loaded?.name);
  const text = json === STDOUT ? stderr : stdout;
  const backends = await openBackends(providers, context);
  try {
    const run = await measureAll(backends, options, context, text);
    if (run === undefined) return notRunExit(backends, options, context);
    print(run, text);
    if (json !== undefined) await writeJson(json, toBenchJson(run, environmentOf()), stdout);
    const unusable = notRunExit(backends, options, context);
    return run.isPart ? EXIT.interrupted : worstExit([hasFailure(run) ? EXIT.failed : EXIT.ok, unusable]);
  } finally {
    for (const { opened } of backends) await opened?.dispose().catch(() => undefined);
  }
}

/** The backends that are named, or those of `CONCORD_BACKEND`, or all. */
async function providersToMeasure(
  known: readonly BackendProvider[],
  names: string | undefined,
): Promise<readonly BackendProvider[]> {
  // A misspelt name in CONCORD_REQUIRE would require nothing.
  requiredBackends(known);
  const list = names ?? (process.env['CONCORD_BACKEND'] || undefined);
  return list === undefined ? known : chooseProviders(known, list);
}

/** @returns undefined where no backend can be used */
async function measureAll(
  backends: readonly OpenedBackend[],
  { size, op, seconds = DEFAULT_SECONDS[size] }: BenchOptions,
  { stderr, signal }: CommandContext,
  text: Output,
): Promise<BenchRun | undefined> {
  const usable = backends.filter(({ opened }) => opened !== undefined);
  if (usable.length === 0) return undefined;
  const ops: readonly BenchOp[] = op === undefined ? BENCH_OPS : matchingOps(op);
  const cases = selectBenchCases(size, ops);
  const total = cases.length * usable.length;
  const where = usable
    .map(({ backend, device }) => `${backend} on ${printable(device?.name ?? 'no device')}`)
    .join(', ');
  text.write(`${plural(cases.length, 'case')}: ${where}\n`);
  for (const { backend, forced, tuning } of usable) {
    if (forced !== undefined) text.write(`${backend}: variants forced: ${forced.join(', ')}\n`);
    if (tuning?.state === 'used') text.write(`${backend}: tuning profile used (${tuning.detail})\n`);
  }
  const started = performance.now();
  const printer = createBenchPrinter({ text, terminal: stderr, total, seconds });
  try {
    const rows = await runCases(cases, backends, { seconds, signal }, printer);
    const done = rows.reduce((sum, { results }) => sum + results.length, 0);
    // Aborted after the last case, the run is whole.
    return { size, op, seconds, backends, rows, isPart: done < total, ms: performance.now() - started };
  } finally {
    printer.stop();
  }
}

function print(run: BenchRun, text: Output): void {
  const colors = colorsFor(text);
  if (run.rows.length > 0) text.write(`\n${benchTables(run, colors)}\n`);
  text.write(`\n${verdictOf(run, colors)} (${plural(run.rows.length, 'case')}, ${formatDuration(run.ms)})\n`);
}

function verdictOf(run: BenchRun, colors: Colors): string {
  if (run.isPart) return colors.yellow('Interrupted: only a part was measured');
  return hasFailure(run) ? colors.red('A result is wrong or an op failed') : colors.green('All results are right');
}

/**
 * Prints which backends were not measured. One that was not asked for by name may be absent.
 *
 * @returns the exit code that belongs to it
 */
function notRunExit(backends: readonly OpenedBackend[], { backend }: BenchOptions, context: CommandContext): number {
  const codes = backends.flatMap(({ notRun }) => (notRun === undefined ? [] : [reportNotRun(notRun, context)]));
  const isNamed = backend !== undefined || codes.length === backends.length;
  return worstExit(codes.filter((code) => isNamed || code !== EXIT.unavailable));
}
