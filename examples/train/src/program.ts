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
  progressOn,
  widthOf,
  withBackend,
  writeResult,
} from '@concord/example-command';
import asciichart from 'asciichart';
import { fit, type Fitted, SHAPE } from './fit.ts';

interface Options extends CommonOptions {
  readonly steps: number;
  readonly seed: number;
}

const MAX = 2 ** 31 - 1;

/** Fits a network, and draws its loss. */
export const runProgram: Program = defineProgram<Options>({
  name: 'train',
  description: 'Fits a network of two layers to the arms of a spiral, on whichever compute backend works best here.',
  examples: ['train', 'train --steps 2000 --seed 7 --json'],
  exitCodes: { failed: 'the device failed', usage: 'wrong arguments' },
  define: (command) =>
    command
      .option('--steps <n>', 'steps of AdamW', integer(1, MAX), 600)
      .option('--seed <n>', 'of the points and the weights', integer(1, MAX), 1),
  run: (_, options, context) =>
    withBackend(options.backend, [{ op: 'gemm' }, { op: 'run' }], (backend) => fitOn(backend, options, context)),
});

async function fitOn(
  backend: ComputeBackend,
  { steps, seed, json }: Options,
  { stdout, stderr, signal }: CommandContext,
): Promise<number> {
  const progress = progressOn(stderr, 'steps');
  let step = 0;
  const onProgress = (losses: readonly number[]): void =>
    progress.update((step += losses.length), steps, `loss ${losses.at(-1)?.toFixed(4)}`);
  const started = performance.now();
  const fitted = await fit(backend, { ...SHAPE, steps, seed, signal, onProgress }).finally(() => progress.stop());
  const seconds = (performance.now() - started) / 1000;
  writeResult(stdout, json, { ...deviceFields(backend), ...SHAPE, steps, seed, seconds, ...fitted }, () => {
    const { losses, accuracy, heldOut } = fitted;
    const share = (value: number): string => `${(100 * value).toFixed(1)}%`;
    const facts = factLines({
      Loss: `${losses[0]?.toFixed(3)} to ${losses.at(-1)?.toFixed(4)} in ${steps} steps, ${(steps / seconds).toFixed(0)} a second`,
      Accuracy: `${share(accuracy)} of the points, ${share(heldOut)} of others`,
      Backend: deviceText(backend),
    });
    return `${curve(fitted, widthOf(stdout))}\n\n${facts}`;
  });
  return EXIT.ok;
}

/** The losses as a curve, each column the mean of the steps that fall into it. */
function curve({ losses }: Fitted, width: number): string {
  const columns = Math.min(losses.length, width - 12);
  const startOf = (column: number): number => Math.floor((column * losses.length) / columns);
  const means = Array.from({ length: columns }, (_, column) => {
    const part = losses.slice(startOf(column), startOf(column + 1));
    return part.reduce((sum, loss) => sum + loss, 0) / part.length;
  });
  return asciichart.plot(means, { height: 10, min: 0 });
}
