import type { KernelBuilder, Value } from '@concord/backend-core/kernel';
import { rootOf, squaredDeviations } from '../compute/centred.ts';
import { checkRows, fold, FOLD, type FoldOptions, rowDomain, type RowFunction } from '../compute/rows.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** Options of {@link variance} and {@link std}. */
export interface VarianceOptions extends FoldOptions {
  /** The number subtracted from the number of elements: 1 for a sample, 0 for a whole population. Default 1. */
  readonly correction?: number;
}

const PARAMS = ['count', 'divisor'];
const VARIANCE: RowFunction = { name: 'variance', params: PARAMS, compute: varianceOf };
const STD: RowFunction = { name: 'std', params: PARAMS, compute: (k, ...of) => rootOf(k, varianceOf(k, ...of)) };

function varianceOf(k: KernelBuilder, x: Value<'f32'>, ...[count, divisor]: Value<'f32'>[]): Value<'f32'> {
  return k.div(squaredDeviations(k, x, count as Value<'f32'>), divisor as Value<'f32'>);
}

/**
 * `sum((x - mean(x))^2) / (n - correction)` along axes; where n - correction is 0 or less NaN, or Infinity. One launch.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a correction that is not finite
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 3], [2, 8]]);
 * await variance(x, { axis: 1 }).toArray(); // [2, 18]
 * await variance(x, { axis: 1, correction: 0 }).toArray(); // [1, 9]
 * ```
 */
export function variance(x: Tensor, options: VarianceOptions = {}): Tensor {
  return fold(VARIANCE, x, options, undefined, paramsOf('variance', x, options));
}

/**
 * Standard deviation: `sqrt(sum((x - mean(x))^2) / (n - correction))` along axes. One launch.
 *
 * @throws {BackendError} INVALID_ARGUMENT for integers, an axis that there is not, a correction that is not finite
 * @example
 * ```ts
 * await std(tensor(backend, [2, 8]), { correction: 0 }).toArray(); // [3]
 * ```
 */
export function std(x: Tensor, options: VarianceOptions = {}): Tensor {
  return fold(STD, x, options, undefined, paramsOf('std', x, options));
}

function paramsOf(op: string, x: Tensor, options: VarianceOptions): Record<string, number> {
  checkRows(op, x, options, { ...FOLD, correction: 'number' });
  const { axis, correction = 1 } = options;
  if (!Number.isFinite(correction)) {
    throw refuse(op, `correction of ${shapeText(x.shape)} must be finite, got ${String(correction)}`);
  }
  const { shape, folded } = rowDomain(op, x.shape, axis);
  const count = sizeOf(shape.slice(shape.length - folded));
  return { count, divisor: Math.max(0, count - correction) };
}
