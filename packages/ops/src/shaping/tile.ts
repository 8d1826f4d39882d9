import { BackendError } from '@concord/backend-core';
import { copyElements } from '../compute/copy.ts';
import { type OutOption, produce } from '../compute/produce.ts';
import { OUT, checkOptions, checkTensor } from '../tensor/arguments.ts';
import { checkShape } from '../tensor/create.ts';
import { launch, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * `x` repeated along each axis, as NumPy's tile: the shorter one of the shape and `repeats` gets ones in front. One launch.
 *
 * @param repeats - how often, for each axis
 * @throws {BackendError} INVALID_ARGUMENT for what is not a list of sizes
 * @throws {BackendError} UNSUPPORTED where the axes and those that repeat are more than 8
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tile(tensor(backend, [1, 2]), [2, 2]);
 * x.shape; // [2, 4]
 * await x.toArray(); // [1, 2, 1, 2, 1, 2, 1, 2]
 * ```
 */
export function tile(x: Tensor, repeats: readonly number[], options: OutOption = {}): Tensor {
  checkTensor('tile', 'x', x);
  checkOptions('tile', options, OUT);
  const own = checkShape('tile', repeats);
  const rank = Math.max(x.rank, own.length);
  const times = Array.from({ length: rank }, (_, axis) => own[axis - rank + own.length] ?? 1);
  const lengths = times.map((_, axis) => x.shape[axis - rank + x.rank] ?? 1);
  const shape = lengths.map((length, axis) => length * (times[axis] as number));
  return produce('tile', x.backend, shape, x.dtype, options, (result) => {
    // Each axis that repeats is two: which time, and where in x.
    const split: { readonly length: number; readonly from: number; readonly to: number }[] = [];
    for (const [axis, length] of lengths.entries()) {
      const [from, to] = [x.strides[axis - rank + x.rank] ?? 0, result.strides[axis] as number];
      const repeated = times[axis] as number;
      if (repeated !== 1) split.push({ length: repeated, from: 0, to: length * to });
      if (length !== 1) split.push({ length, from, to });
    }
    if (split.length > 8) {
      const detail = `tile: ${shapeText(x.shape)} by ${shapeText(own)} has more than 8 axes and repetitions`;
      throw new BackendError('UNSUPPORTED', detail, { op: 'tile', hint: 'tile some of the axes, then the others' });
    }
    const source = { ptr: x.ptr, dtype: x.dtype, strides: split.map(({ from }) => from) };
    const target = { ptr: result.ptr, dtype: result.dtype, strides: split.map(({ to }) => to) };
    launch('tile', [x], () => {
      copyElements(
        x.backend,
        split.map(({ length }) => length),
        source,
        target,
      );
    });
  });
}
