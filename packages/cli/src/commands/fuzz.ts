import { type OpName, printable } from '@concord/backend-core';
import { type FuzzReport, type FuzzStop, runFuzz } from '@concord/conformance';
import { chooseProvider, reportNotRun, tryBackend } from '../choose-backend.ts';
import { forcedVariants } from '../conformance/each-variant.ts';
import { CommandError, EXIT } from '../command-error.ts';
import type { CommandContext, Output } from '../context.ts';
import { replayCommand, shellWord } from '../output/shell-quote.ts';
import { colorsFor } from '../output/colors.ts';
import { present } from '../objects.ts';
import { plural } from '../output/format.ts';
import { checkWritable, STDOUT, writeJson } from '../output/output-file.ts';
import { createProgress } from '../output/progress.ts';
import { moduleArguments, withModule } from '../load-module.ts';
import { DEFAULT_FUZZ_SECONDS, type ModuleOptions } from '../option-values.ts';

/** The JSON that `--json` writes. */
export type FuzzJson = FuzzReport;

/** Options of `concord fuzz`. */
export interface FuzzOptions extends ModuleOptions {
  readonly backend?: string;
  readonly seconds?: number;
  readonly count?: number;
  readonly seed?: number;
  readonly op?: readonly OpName[];
  readonly programs?: boolean;
  readonly json?: string;
}

/** Why a run stopped, in words. */
const STOPS: Readonly<Record<FuzzStop, string>> = {
  time: 'stopped as its time is over',
  count: 'stopped as its count is reached',
  'too-many-failures': 'stopped as these failures are enough',
  aborted: 'stopped by Ctrl-C',
  'nothing-to-do': 'stopped as the backend has none of these ops',
};

/** Runs `concord fuzz`: random calls, compared with the oracle. */
export async function fuzz(given: CommandContext, options: FuzzOptions): Promise<number> {
  const { stdout, stderr, signal } = given;
  if (options.programs === true && options.op !== undefined) {
    throw new CommandError('--programs draws calls of all ops', { code: 'BAD_OPTION', hint: 'Leave --op out.' });
  }
  const thing = options.programs === true ? 'program' : 'call';
  if (options.json !== undefined) await checkWritable(options.json);
  const { loaded, providers } = await withModule(given.providers, options);
  const context = { ...given, providers };
  const provider = await chooseProvider(providers, options.backend ?? loaded?.name);
  const text = options.json === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const start = options.seed ?? Math.floor(Math.random() * 2 ** 32);
  // First of all: should the driver bring the process down, this is what is needed to see it again.
  text.write(`${provider.name}, seed ${start}\n`);
  const seconds = options.seconds ?? (options.count === undefined ? DEFAULT_FUZZ_SECONDS : undefined);
  const progress = createProgress(stderr);
  const onProgress = ({ tried, elapsedMs }: { tried: number; elapsedMs: number }): void => {
    const shares = [tried / (options.count ?? Infinity), elapsedMs / 1000 / (seconds ?? Infinity)];
    progress.update(Math.min(100, Math.round(100 * Math.max(...shares))), 100, plural(tried, thing));
  };
  const { report, notRun } = await tryBackend(provider, context, () =>
    runFuzz(() => provider.create(), {
      seed: start,
      signal,
      onProgress,
      ...present({ seconds, count: options.count, ops: options.op, programs: options.programs }),
    }),
  ).finally(() => progress.stop());
  if (notRun !== undefined) return reportNotRun(notRun, context);
  for (const failure of report.failures)
    printFailure(failure, `${shellWord(provider.name)}${provider === loaded ? moduleArguments(options) : ''}`, text);
  if (signal.aborted) {
    text.write(`${colors.yellow('Interrupted')} by Ctrl-C after ${plural(report.tried, thing)}\n`);
    return EXIT.interrupted;
  }
  if (options.json !== undefined) await writeJson(options.json, report satisfies FuzzJson, stdout);
  const found = report.failures.length;
  const verdict = found === 0 ? colors.green('no wrong answer') : colors.red(plural(found, 'failure'));
  const done = report.programs;
  const details = done === undefined ? '' : ` (${plural(done.calls, 'call')}, ${plural(done.reads, 'read')} compared)`;
  text.write(`${plural(report.tried, thing)} tried${details}: ${verdict}; ${STOPS[report.stopped]}\n`);
  return found === 0 ? EXIT.ok : EXIT.failed;
}

function printFailure(failure: FuzzReport['failures'][number], backend: string, text: Output): void {
  const colors = colorsFor(text);
  text.write(`${colors.red('FAILED')} ${colors.bold(failure.id)}\n`);
  for (const line of printable(failure.detail).split('\n')) text.write(`    ${line}\n`);
  if (failure.shrunkFrom !== failure.id) text.write(colors.dim(`    reduced from: ${failure.shrunkFrom}\n`));
  text.write(`    again: ${replayCommand(failure.id, backend, forcedVariants())}\n`);
}
