import type { ComputeBackend } from '@concord/backend-core';
import { adamW, valueAndGrad } from '@concord/grad';
import { slice, tensor, type Tensor, tidy } from '@concord/ops';
import { accuracy, lossOf, newNetwork } from './network.ts';
import { CLASSES, spiral } from './spiral.ts';

/** Options of {@link fit}. */
export interface FitOptions {
  readonly steps: number;
  readonly batch: number;
  readonly hidden: number;
  readonly learningRate: number;
  readonly seed: number;
  readonly signal?: AbortSignal;
  /** Gets the losses of the steps since it was called before. */
  readonly onProgress?: (losses: readonly number[]) => void;
}

/** The result of a training. */
export interface Fitted {
  /** Of each step. */
  readonly losses: readonly number[];
  /** Shares of points whose class is found, of those that were learnt and of others. */
  readonly accuracy: number;
  readonly heldOut: number;
}

/** What the program and the page fit. */
export const SHAPE: Pick<FitOptions, 'batch' | 'hidden' | 'learningRate'> = {
  batch: 256,
  hidden: 64,
  learningRate: 0.01,
};

const POINTS = 3072;
/** Losses that are read together: the device goes on meanwhile. */
const READ_EVERY = 50;

/** Fits a network of two layers to the arms of a spiral. */
export async function fit(backend: ComputeBackend, options: FitOptions): Promise<Fitted> {
  const { steps, batch, hidden, learningRate, seed, signal, onProgress } = options;
  const [known, other] = [spiral(POINTS, seed), spiral(POINTS, seed + 1)];
  const held = tidy(() => ({
    network: newNetwork(backend, 2, hidden, CLASSES, seed),
    x: tensor(backend, known.positions, [POINTS, 2]),
    classes: tensor(backend, known.classes),
    otherX: tensor(backend, other.positions, [POINTS, 2]),
    otherClasses: tensor(backend, other.classes),
  }));
  const { network, x, classes, otherX, otherClasses } = held;
  using optimizer = adamW(network, { rate: learningRate });
  const lossAndGradient = valueAndGrad(lossOf);
  const losses: number[] = [];
  let unread: Tensor[] = [];
  const readLosses = async (): Promise<void> => {
    const reading = unread;
    unread = [];
    const read = await Promise.all(reading.map((each) => each.item()));
    for (const each of reading) each.dispose();
    losses.push(...read);
    onProgress?.(read);
  };
  try {
    for (let step = 0; step < steps; step++) {
      signal?.throwIfAborted();
      const start = (step * batch) % (POINTS - batch + 1);
      unread.push(
        tidy(() => {
          const rows = [start, start + batch] as const;
          const { value, gradient } = lossAndGradient(network, slice(x, [rows]), slice(classes, [rows]));
          optimizer.step(gradient);
          return value;
        }),
      );
      if (unread.length === READ_EVERY || step === steps - 1) await readLosses();
    }
    using ofKnown = accuracy(network, x, classes);
    using ofOther = accuracy(network, otherX, otherClasses);
    return { losses, accuracy: await ofKnown.item(), heldOut: await ofOther.item() };
  } finally {
    for (const each of [...unread, ...Object.values(network), x, classes, otherX, otherClasses]) each.dispose();
  }
}
