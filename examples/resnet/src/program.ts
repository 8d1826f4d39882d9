import { type ComputeBackend, selectBackend } from '@concord/backend-core';
import {
  backendOption,
  checkBackendNames,
  type CommandContext,
  EXIT,
  newCommand,
  providers,
  runCommand,
  verboseOption,
} from '@concord/example-command';
import { softmax, type Tensor, topK } from '@concord/ops';
import { type Command, InvalidArgumentError } from 'commander';
import { RESNET_18 } from './architecture.ts';
import { checkScores } from './check.ts';
import { classify, noiseImages, untrainedWeights, type Weights } from './resnet.ts';

interface Options {
  readonly batch: number;
  readonly size: number;
  readonly runs: number;
  readonly backend?: readonly string[];
}

const HELP = `
Examples:
  resnet
  resnet --batch 1 --size 64 --backend cpu

Exit codes:
  0    done, and the scores are those of the reference
  1    one is not, or the device failed
  2    wrong arguments
  3    no backend can be used on this machine
  130  interrupted with Ctrl-C

CONCORD_BACKEND=a,b restricts the choice of the backend as --backend does.`;

/** How many classes are shown. */
const TOP = 5;

/**
 * Runs the command line.
 *
 * @param args - without the names of the interpreter and the script
 * @returns the exit code
 */
export function runProgram(args: readonly string[], context: CommandContext): Promise<number> {
  const command = resnetCommand(context);
  return runCommand(command, args, context, () => run(command.opts<Options>(), context));
}

function resnetCommand(context: CommandContext): Command {
  return newCommand('resnet', HELP, context)
    .description('Classifies images with ResNet-18, on whichever compute backend works best on this machine.')
    .option('--batch <images>', 'how many at once', integerFrom(1, 1024), 16)
    .option('--size <pixels>', 'width and height of the images', integerFrom(32, 1024), 224)
    .option('--runs <count>', 'how often, after the first time', integerFrom(1, 1000), 3)
    .addOption(backendOption())
    .addOption(verboseOption());
}

async function run(options: Options, context: CommandContext): Promise<number> {
  checkBackendNames(options.backend);
  context.signal.throwIfAborted();
  const { backend } = await selectBackend(providers(), {
    require: [{ op: 'conv2dForward' }, { op: 'gemm' }, { op: 'run' }, { op: 'topK' }],
    ...(options.backend === undefined ? {} : { prefer: options.backend }),
  });
  try {
    const weights = untrainedWeights(backend, RESNET_18);
    try {
      return await report(backend, weights, options, context);
    } finally {
      for (const each of Object.values(weights)) each.dispose();
    }
  } finally {
    await backend.dispose();
  }
}

async function report(
  backend: ComputeBackend,
  weights: Weights,
  { batch, size, runs }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const { passed, difference, ...checked } = await checkScores(backend, RESNET_18, weights, signal);
  using images = noiseImages(backend, batch, size);
  const seconds: number[] = [];
  let classes: readonly string[] = [];
  for (let index = 0; index <= runs; index++) {
    const started = performance.now();
    using scores = classify(RESNET_18, weights, images);
    await backend.synchronize({ signal });
    seconds.push((performance.now() - started) / 1000);
    if (index === runs) classes = await topClasses(scores, signal);
  }
  const [first = 0, ...later] = seconds;
  const best = Math.min(...later);
  const numbers = Object.values(weights).reduce((sum, each) => sum + each.size, 0);
  const lines = [
    ...['class  of the first image', ...classes, ''],
    `Network  ${RESNET_18.name}, ${(numbers / 1e6).toFixed(1)} million weights, untrained`,
    `Images   ${batch} of 3 x ${size} x ${size}`,
    `Time     ${milliseconds(best)}, ${(batch / best).toPrecision(3)} images a second; the first time ${milliseconds(first)}`,
    `Backend  ${backend.name}: ${backend.device.name} [${backend.device.type}]`,
    `Check    ${passed ? 'passed' : 'failed'}: ${checked.scores} scores of 3 x ${checked.size} x ${checked.size}, ${difference.toExponential(1)} from the float64 reference`,
  ];
  stdout.write(`${lines.join('\n')}\n`);
  return passed ? EXIT.ok : EXIT.failed;
}

/** A line for each of the likeliest classes of the first image. */
async function topClasses(scores: Tensor, signal: AbortSignal): Promise<readonly string[]> {
  using likely = softmax(scores);
  const { values, indices } = topK(likely, TOP);
  try {
    const shares = await values.toArray({ signal });
    const places = await indices.toArray({ signal });
    return Array.from({ length: TOP }, (_, at) => {
      return `${String(places[at]).padStart(5)}  ${(100 * (shares[at] as number)).toFixed(2)}%`;
    });
  } finally {
    values.dispose();
    indices.dispose();
  }
}

function milliseconds(seconds: number): string {
  return `${(1000 * seconds).toPrecision(3)} ms`;
}

function integerFrom(least: number, most: number): (value: string) => number {
  return (value) => {
    const number = value.trim() === '' ? Number.NaN : Number(value);
    if (Number.isInteger(number) && number >= least && number <= most) return number;
    throw new InvalidArgumentError(`It must be an integer from ${least} to ${most}.`);
  };
}
