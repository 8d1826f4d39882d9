import type { OutOption } from '../compute/produce.ts';
import type { Pair } from '../convolution/window.ts';
import { mean } from '../folds/folds.ts';
import { OUT, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { pool, type PooledMax, type PoolOptions, poolWithIndices } from './pool.ts';

/**
 * The greatest element of each window of `[n, c, h, w]`, as max_pool2d of PyTorch; NaN where one is. Padding is less than
 * every number. f32, f16 and bf16; windows up to 25 elements are written out, larger ones are folded.
 *
 * @param kernelSize - of the window
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]);
 * await maxPool(x, 2, { stride: 1 }).toArray(); // [5, 6, 8, 9]
 * await maxPool(x, 2, { ceilMode: true }).toArray(); // [5, 6, 8, 9]
 * ```
 */
export function maxPool(x: Tensor, kernelSize: Pair, options: PoolOptions = {}): Tensor {
  return pool('maxPool', 'max', x, kernelSize, options);
}

/**
 * Returns {@link maxPool}, and the place of each maximum in its image: of several equal ones the first, and the first
 * NaN if there is one. One launch.
 *
 * @param kernelSize - of the window
 * @param options - without `out`
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2, 3], [4, 5, 6], [7, 8, 9]]]]);
 * const { values, indices } = maxPoolWithIndices(x, 2, { stride: 1 });
 * await values.toArray(); // [5, 6, 8, 9]
 * await indices.toArray(); // [4, 5, 7, 8]
 * ```
 */
export function maxPoolWithIndices(x: Tensor, kernelSize: Pair, options: Omit<PoolOptions, 'out'> = {}): PooledMax {
  return poolWithIndices('maxPoolWithIndices', x, kernelSize, options);
}

/** Options of {@link avgPool}. */
export interface AvgPoolOptions extends PoolOptions {
  /** True if the zeros of the padding count. Default true. */
  readonly countIncludePad?: boolean;
}

/**
 * The mean of each window of `[n, c, h, w]`, as avg_pool2d of PyTorch. f32, f16 and bf16.
 *
 * @param kernelSize - of the window
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not fit
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2], [3, 6]]]]);
 * await avgPool(x, 2).toArray(); // [3]
 * await avgPool(x, [1, 2], { stride: 1, padding: [0, 1], countIncludePad: false }).toArray(); // [1, 1.5, 2, 3, 4.5, 6]
 * ```
 */
export function avgPool(x: Tensor, kernelSize: Pair, options: AvgPoolOptions = {}): Tensor {
  return pool('avgPool', 'mean', x, kernelSize, options);
}

/**
 * The mean of each image: `[n, c, ...size]` to `[n, c]`.
 *
 * @throws {BackendError} INVALID_ARGUMENT for fewer than 3 axes
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[[[1, 2], [3, 6]], [[0, 0], [0, 4]]]]);
 * await globalAveragePool(x).toArray(); // [3, 1]
 * ```
 */
export function globalAveragePool(x: Tensor, options: OutOption = {}): Tensor {
  checkTensor('globalAveragePool', 'x', x);
  checkOptions('globalAveragePool', options, OUT);
  if (x.rank < 3) throw refuse('globalAveragePool', `takes [n, c, ...size], got ${shapeText(x.shape)}`);
  return mean(x, { axis: [...x.shape.keys()].slice(2), out: options.out });
}
