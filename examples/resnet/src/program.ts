import type { ComputeBackend } from '@concord/backend-core';
import {
  type CommandContext,
  type CommonOptions,
  defineProgram,
  deviceFields,
  deviceText,
  EXIT,
  factLines,
  integer,
  type Program,
  withBackend,
  writeResult,
} from '@concord/example-command';
import { softmax, type Tensor, topK } from '@concord/ops';
import { RESNET_18 } from './architecture.ts';
import { checkScores } from './check.ts';
import { classify, noiseImages, untrainedWeights, type Weights } from './resnet.ts';

interface Options extends CommonOptions {
  readonly batch: number;
  readonly size: number;
  readonly runs: number;
}

/** Classes that are shown. */
const TOP = 5;
const NEEDED = [{ op: 'conv2dForward' }, { op: 'gemm' }, { op: 'run' }, { op: 'topK' }] as const;

/** Classifies images. */
export const runProgram: Program = defineProgram<Options>({
  name: 'resnet',
  description: 'Classifies images with ResNet-18, on whichever compute backend works best on this machine.',
  examples: ['resnet', 'resnet --batch 1 --size 64 --backend cpu'],
  exitCodes: {
    ok: 'done, and the scores are those of the reference',
    failed: 'one is not, or the device failed',
    usage: 'wrong arguments',
  },
  define: (command) =>
    command
      .option('--batch <images>', 'images at once', integer(1, 1024), 16)
      .option('--size <pixels>', 'width and height of the images', integer(32, 1024), 224)
      .option('--runs <count>', 'runs after the first one', integer(1, 1000), 3),
  run: (_, options, context) => {
    context.signal.throwIfAborted();
    return withBackend(options.backend, NEEDED, async (backend) => {
      const weights = untrainedWeights(backend, RESNET_18);
      try {
        return await report(backend, weights, options, context);
      } finally {
        for (const each of Object.values(weights)) each.dispose();
      }
    });
  },
});

async function report(
  backend: ComputeBackend,
  weights: Weights,
  { batch, size, runs, json }: Options,
  { stdout, signal }: CommandContext,
): Promise<number> {
  const check = await checkScores(backend, RESNET_18, weights, signal);
  using images = noiseImages(backend, batch, size);
  const seconds: number[] = [];
  let classes: readonly Likely[] = [];
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
  const times = { seconds: best, firstSeconds: first, imagesPerSecond: batch / best };
  const network = { network: RESNET_18.name, weights: numbers };
  writeResult(stdout, json, { classes, ...network, batch, size, ...times, ...deviceFields(backend), check }, () => {
    const verdict = `${check.passed ? 'passed' : 'failed'}: ${check.scores} scores of 3 x ${check.size} x ${check.size}`;
    const shown = classes.map(({ index, share }) => `${String(index).padStart(5)}  ${(100 * share).toFixed(2)}%`);
    const facts = factLines({
      Network: `${RESNET_18.name}, ${(numbers / 1e6).toFixed(1)} million weights, untrained`,
      Images: `${batch} of 3 x ${size} x ${size}`,
      Time: `${milliseconds(best)}, ${(batch / best).toPrecision(3)} images a second; the first time ${milliseconds(first)}`,
      Backend: deviceText(backend),
      Check: `${verdict}, ${check.difference.toExponential(1)} from the float64 reference`,
    });
    return ['class  of the first image', ...shown, '', facts].join('\n');
  });
  return check.passed ? EXIT.ok : EXIT.failed;
}

/** A class and its probability. */
interface Likely {
  readonly index: number;
  readonly share: number;
}

/** The likeliest classes of the first image. */
async function topClasses(scores: Tensor, signal: AbortSignal): Promise<readonly Likely[]> {
  using likely = softmax(scores);
  const { values, indices } = topK(likely, TOP);
  try {
    const shares = await values.toArray({ signal });
    const places = await indices.toArray({ signal });
    return Array.from({ length: TOP }, (_, at) => ({ index: places[at] as number, share: shares[at] as number }));
  } finally {
    values.dispose();
    indices.dispose();
  }
}

function milliseconds(seconds: number): string {
  return `${(1000 * seconds).toPrecision(3)} ms`;
}
