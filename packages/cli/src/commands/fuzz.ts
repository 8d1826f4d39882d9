import { OP_NAMES, type OpName, printable } from '@concord/backend-core';
import { type FuzzReport, runFuzz } from '@concord/conformance';
import { type Command, InvalidArgumentError } from 'commander';
import { matchingOps } from '../bench/select-cases.ts';
import { chooseProvider } from '../choose-backend.ts';
import { forcedVariants } from '../conformance/each-variant.ts';
import type { CommandContext, Finish, Output } from '../context.ts';
import { EXIT, EXIT_CODE_HELP } from '../exit-codes.ts';
import { computedOps, positive } from '../option-values.ts';
import { replayCommand } from '../output/case-summary.ts';
import { colorsFor } from '../output/colors.ts';
import { plural } from '../output/format.ts';
import { checkWritable, STDOUT, writeJson } from '../output/output-file.ts';
import { createProgress } from '../output/progress.ts';
import { addModuleOptions, moduleArguments, type ModuleOptions, withModule } from '../load-module.ts';
import { reportNotRun, tryBackend } from '../try-backend.ts';
import { shellWord } from '../output/shell-quote.ts';

/** What `--json` writes. */
export type FuzzJson = FuzzReport;

interface Options extends ModuleOptions {
  readonly backend?: string;
  readonly seconds?: number;
  readonly count?: number;
  readonly seed?: number;
  readonly op?: readonly OpName[];
  readonly json?: string;
}

const DEFAULT_SECONDS = 10;

const HELP = `
Examples:
  concord fuzz
  concord fuzz --backend cpu --seconds 60
  concord fuzz --op 'gemm*' --count 500
  concord fuzz --seed 12345 --count 500          the same calls again
${EXIT_CODE_HELP}`;

/** Adds `concord fuzz`: random calls, compared with the oracle. */
export function addFuzzCommand(program: Command, context: CommandContext, finish: Finish): void {
  addModuleOptions(program.command('fuzz'))
    .summary('look for wrong answers with random calls')
    .description(
      'Draws shapes, strides, offsets and values at random, compares the results with the float64 oracle, and reduces ' +
        'what fails to a small case with an id that can be run again.',
    )
    .option('--backend <name>', 'the backend to run (default: the one an application would get)')
    .option('--seconds <n>', `how long (default: ${DEFAULT_SECONDS}, or no limit with --count)`, positive)
    .option('--count <n>', 'how many calls', positiveInteger)
    .option('--seed <n>', 'where the random numbers start (default: a new seed, which is printed)', seed)
    .option('--op <glob>', "only these ops, such as 'gemm*'; a comma separates several", ops)
    .option('--json <file>', 'write the results as JSON; - writes to stdout and all else to stderr')
    .addHelpText('after', HELP)
    .action(async (options: Options) => finish(await fuzz(context, options)));
}

async function fuzz(given: CommandContext, options: Options): Promise<number> {
  const { stdout, stderr, signal } = given;
  if (options.json !== undefined) await checkWritable(options.json);
  const { loaded, providers } = await withModule(given.providers, options);
  const context = { ...given, providers };
  const provider = await chooseProvider(providers, options.backend ?? loaded?.name);
  const text = options.json === STDOUT ? stderr : stdout;
  const colors = colorsFor(text);
  const start = options.seed ?? Math.floor(Math.random() * 2 ** 32);
  // First of all: should the driver bring the process down, this is what is needed to see it again.
  text.write(`${provider.name}, seed ${start}\n`);
  const seconds = options.seconds ?? (options.count === undefined ? DEFAULT_SECONDS : undefined);
  const progress = createProgress(stderr);
  const onProgress = ({ tried, elapsedMs }: { tried: number; elapsedMs: number }): void => {
    const shares = [tried / (options.count ?? Infinity), elapsedMs / 1000 / (seconds ?? Infinity)];
    progress.update(Math.min(100, Math.round(100 * Math.max(...shares))), 100, plural(tried, 'call'));
  };
  const { report, notRun } = await tryBackend(provider, context, () =>
    runFuzz(() => provider.create(), {
      seed: start,
      signal,
      onProgress,
      ...(seconds === undefined ? {} : { seconds }),
      ...(options.count === undefined ? {} : { count: options.count }),
      ...(options.op === undefined ? {} : { ops: options.op }),
    }),
  ).finally(() => progress.stop());
  if (notRun !== undefined) return reportNotRun(notRun, context);
  for (const failure of report.failures)
    printFailure(failure, `${shellWord(provider.name)}${provider === loaded ? moduleArguments(options) : ''}`, text);
  if (signal.aborted) {
    text.write(`${colors.yellow('Interrupted')} after ${plural(report.tried, 'call')}\n`);
    return EXIT.interrupted;
  }
  if (options.json !== undefined) await writeJson(options.json, report satisfies FuzzJson, stdout);
  const found = report.failures.length;
  const verdict = found === 0 ? colors.green('no wrong answer') : colors.red(plural(found, 'failure'));
  text.write(`${plural(report.tried, 'call')} tried: ${verdict}\n`);
  return found === 0 ? EXIT.ok : EXIT.failed;
}

function printFailure(failure: FuzzReport['failures'][number], backend: string, text: Output): void {
  const colors = colorsFor(text);
  text.write(`${colors.red('FAILED')} ${colors.bold(failure.id)}\n`);
  for (const line of printable(failure.detail).split('\n')) text.write(`    ${line}\n`);
  text.write(colors.dim(`    reduced from: ${failure.shrunkFrom}\n`));
  text.write(`    again: ${replayCommand(failure.id, backend, forcedVariants())}\n`);
}

function positiveInteger(value: string): number {
  const number = Number(value);
  if (!Number.isSafeInteger(number) || number < 1) throw new InvalidArgumentError('It must be an integer above 0.');
  return number;
}

function seed(value: string): number {
  const number = Number(value);
  if (!Number.isInteger(number) || number < 0 || number >= 2 ** 32 || value.trim() === '') {
    throw new InvalidArgumentError('It must be an integer from 0 to 4294967295.');
  }
  return number;
}

function ops(value: string): OpName[] {
  const matching = matchingOps(computedOps(value));
  return OP_NAMES.filter((op) => matching.includes(op));
}
