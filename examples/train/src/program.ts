import { selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  colorsFor,
  type CommandContext,
  EXIT,
  newCommand,
  providers,
  runCommand,
  verboseOption,
  widthOf,
} from '@concord/example-command';
import asciichart from 'asciichart';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { fit, type Fitted } from './fit.ts';

interface Options {
  readonly steps: number;
  readonly seed: number;
  readonly backend?: readonly string[];
  readonly json?: boolean;
}

const SHAPE = { batch: 256, hidden: 64, learningRate: 0.01 };

const HELP = `
Examples:
  train
  train --steps 2000 --seed 7 --json

Exit codes:
  0    done
  1    the device failed
  2    wrong arguments
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C

CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.`;

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = trainCommand(context);
  return runCommand(command, args, context, () => run(command.opts<Options>(), context));
}

function trainCommand(context: CommandContext): Command {
  return newCommand('train', HELP, context)
    .description('Fits a network of two layers to the arms of a spiral, on whichever compute backend works best here.')
    .addOption(new Option('--steps <n>', 'steps of AdamW').argParser(positive).default(600))
    .addOption(new Option('--seed <n>', 'of the points and the weights').argParser(positive).default(1))
    .addOption(backendOption())
    .option('--json', 'one JSON object with the loss of each step instead of the curve')
    .addOption(verboseOption());
}

async function run(options: Options, { stdout, stderr, signal }: CommandContext): Promise<number> {
  checkBackendNames(options.backend);
  const { backend } = await selectBackend(providers(), {
    require: [{ op: 'gemm' }, { op: 'run' }],
    ...(options.backend === undefined ? {} : { prefer: options.backend }),
  });
  try {
    const { steps, seed } = options;
    const started = performance.now();
    const onProgress = (step: number, loss: number): void => {
      if (stderr.isTTY === true) stderr.write(`\rstep ${step} of ${steps}, loss ${loss.toFixed(4)} `);
    };
    const fitted = await fit(backend, { ...SHAPE, steps, seed, signal, onProgress });
    if (stderr.isTTY === true) stderr.write(`\r${' '.repeat(48)}\r`);
    const seconds = (performance.now() - started) / 1000;
    const device = { backend: backend.name, device: backend.device.name };
    if (options.json === true) {
      stdout.write(`${JSON.stringify({ ...device, ...SHAPE, steps, seed, seconds, ...fitted })}\n`);
      return EXIT.ok;
    }
    const share = (value: number): string => `${(100 * value).toFixed(1)}%`;
    stdout.write(
      `${curve(fitted, widthOf(stdout))}\n\n` +
        `Loss      ${fitted.losses[0]?.toFixed(3)} to ${fitted.losses.at(-1)?.toFixed(4)} in ${steps} steps, ${(steps / seconds).toFixed(0)} a second\n` +
        `Accuracy  ${share(fitted.accuracy)} of the points, ${share(fitted.heldOut)} of others\n` +
        `${colorsFor(stdout).dim(`Backend   ${device.backend}: ${device.device}`)}\n`,
    );
    return EXIT.ok;
  } finally {
    await backend.dispose();
  }
}

/** The losses as a curve, each column the mean of the steps that fall into it. */
function curve({ losses }: Fitted, width: number): string {
  const columns = Math.min(losses.length, width - 12);
  const means = Array.from({ length: columns }, (_, column) => {
    const part = losses.slice(
      Math.floor((column * losses.length) / columns),
      Math.max(
        Math.floor((column * losses.length) / columns) + 1,
        Math.floor(((column + 1) * losses.length) / columns),
      ),
    );
    return part.reduce((sum, loss) => sum + loss, 0) / part.length;
  });
  return asciichart.plot(means, { height: 10, min: 0 });
}

function positive(text: string): number {
  const value = Number(text);
  if (!Number.isSafeInteger(value) || value < 1 || value >= 2 ** 31) {
    throw new InvalidArgumentError('It must be a positive integer below 2^31.');
  }
  return value;
}
