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
import { RESNET_18 } from './architecture.ts';
import { checkScores } from './check.ts';
import { classify, noiseImages, untrainedWeights, type Weights } from './resnet.ts';

interface Options extends CommonOptions {
  readonly batch: number;
  readonly size: number;
  readonly runs: number;
}

const NEEDED = [{ op: 'conv2dForward' }, { op: 'gemm' }, { op: 'run' }] as const;

/** Times a network, and compares its scores with a reference. */
export const runProgram: Program = defineProgram<Options>({
  name: 'resnet',
  description:
    'Times ResNet-18, and compares its scores with a reference, on whichever compute backend works best on this machine.',
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
  for (let index = 0; index <= runs; index++) {
    const started = performance.now();
    using _scores = classify(RESNET_18, weights, images);
    await backend.synchronize({ signal });
    seconds.push((performance.now() - started) / 1000);
  }
  const [first = 0, ...later] = seconds;
  const best = Math.min(...later);
  const numbers = Object.values(weights).reduce((sum, each) => sum + each.size, 0);
  const times = { seconds: best, firstSeconds: first, imagesPerSecond: batch / best };
  const network = { network: RESNET_18.name, weights: numbers };
  writeResult(stdout, json, { ...network, batch, size, ...times, ...deviceFields(backend), check }, () => {
    const verdict = `${check.passed ? 'passed' : 'failed'}: ${check.scores} scores of 3 x ${check.size} x ${check.size}`;
    return factLines({
      Network: `${RESNET_18.name}, ${(numbers / 1e6).toFixed(1)} million weights, untrained`,
      Images: `${batch} of 3 x ${size} x ${size}`,
      Time: `${milliseconds(best)}, ${(batch / best).toPrecision(3)} images a second; the first time ${milliseconds(first)}`,
      Backend: deviceText(backend),
      Check: `${verdict}, ${check.difference.toExponential(1)} from the float64 reference`,
    });
  });
  return check.passed ? EXIT.ok : EXIT.failed;
}

function milliseconds(seconds: number): string {
  return `${(1000 * seconds).toPrecision(3)} ms`;
}
