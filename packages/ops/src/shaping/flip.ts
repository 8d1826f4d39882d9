import type { OutOption } from '../compute/produce.ts';
import { type Axes, checkAxes, checkRows, ROWS } from '../compute/rows.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { remap } from './remap.ts';

/** Options of {@link flip}. */
export interface FlipOptions extends OutOption {
  /** Default: all. Negative ones count from the end. */
  readonly axis?: Axes;
}

/**
 * The elements in the opposite order along axes, as NumPy's flip.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[1, 2], [3, 4]]);
 * await flip(x).toArray(); // [4, 3, 2, 1]
 * await flip(x, { axis: 1 }).toArray(); // [2, 1, 4, 3]
 * ```
 */
export function flip(x: Tensor, options: FlipOptions = {}): Tensor {
  checkRows('flip', x, options, ROWS);
  const axes = checkAxes('flip', x.shape, options.axis ?? [...x.shape.keys()]);
  const changes = x.shape.map((_, axis) => axes.includes(axis));
  const before = x.shape.map(() => 0);
  return remap('flip', x, { mode: 'flip', shape: x.shape, changes, before, value: 0 }, options);
}
