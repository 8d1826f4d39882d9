import { elementwise, type ElementFunction, NUMBERS, type TensorLike } from '../compute/elementwise.ts';
import type { OutOption } from '../compute/produce.ts';
import { OUT, checkOptions, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

const CLAMP: ElementFunction = {
  name: 'clamp',
  types: NUMBERS,
  compute: (k, x, low, high) => k.clamp(x, low, high),
};
const CLAMP_MIN: ElementFunction = { name: 'clamp', types: NUMBERS, compute: (k, x, low) => k.max(x, low) };
const CLAMP_MAX: ElementFunction = { name: 'clamp', types: NUMBERS, compute: (k, x, high) => k.min(x, high) };

/** Options of {@link clamp}: at least one bound. */
export interface ClampOptions extends OutOption {
  /** Lower bound; a tensor broadcasts with `x`. Default: none. */
  readonly min?: TensorLike | undefined;
  /** Upper bound; a tensor broadcasts with `x`. Default: none. */
  readonly max?: TensorLike | undefined;
}

/**
 * `min(max(x, options.min), options.max)`: `max` where the bounds are the wrong way round, NaN where one of them or `x`
 * is NaN.
 *
 * @throws {BackendError} INVALID_ARGUMENT without a bound, for shapes that do not broadcast, and kinds of numbers that
 *   differ
 * @example
 * ```ts
 * const x = tensor(backend, [-1, 2, 7]);
 * await clamp(x, { min: 0, max: 6 }).toArray(); // [0, 2, 6]
 * await clamp(x, { min: 1 }).toArray(); // [1, 2, 7]
 * ```
 */
export function clamp(x: Tensor, options: ClampOptions): Tensor {
  checkOptions('clamp', options, { ...OUT, min: 'operand', max: 'operand' });
  const { min, max, out } = options;
  if (min !== undefined && max !== undefined) return elementwise(CLAMP, [x, min, max], { out });
  if (min !== undefined) return elementwise(CLAMP_MIN, [x, min], { out });
  if (max !== undefined) return elementwise(CLAMP_MAX, [x, max], { out });
  throw refuse('clamp', `takes min, max or both for ${shown(x)}, got neither`);
}
