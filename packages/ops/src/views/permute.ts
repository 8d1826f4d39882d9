import { checkAxis } from '../compute/rows.ts';
import { keyedView } from '../tensor/allocate.ts';
import { checkTensor, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * A view with its axes in another order.
 *
 * @param axes - for each axis of the result, which of `x` it is
 * @throws {BackendError} INVALID_ARGUMENT unless each axis is named once
 * @example
 * ```ts
 * using x = zeros(backend, [2, 3, 4]);
 * permute(x, [0, 2, 1]).shape; // [2, 4, 3]
 * ```
 */
export function permute(x: Tensor, axes: readonly number[]): Tensor {
  checkTensor('permute', 'x', x);
  if (!Array.isArray(axes))
    throw refuse('permute', `takes a list of axes for ${shapeText(x.shape)}, got ${shown(axes)}`);
  const list = [...(axes as readonly number[])];
  return keyedView(x, ['permute', ...list], () => {
    const own = list.map((axis) => checkAxis('permute', x.shape, axis));
    if (own.length !== x.rank || new Set(own).size !== x.rank) {
      throw refuse('permute', `axes ${shapeText(list)} are not those of ${shapeText(x.shape)}, each once`);
    }
    return { shape: own.map((axis) => x.shape[axis] as number), strides: own.map((axis) => x.strides[axis] as number) };
  }) as Tensor;
}

/**
 * A view with two axes exchanged: of a matrix, its transpose.
 *
 * @param axis0 - default -2
 * @param axis1 - default -1
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2, 3], [4, 5, 6]]);
 * await transpose(x).toArray(); // [1, 4, 2, 5, 3, 6]
 * ```
 */
export function transpose(x: Tensor, axis0: number = -2, axis1: number = -1): Tensor {
  checkTensor('transpose', 'x', x);
  const a = checkAxis('transpose', x.shape, axis0);
  const b = checkAxis('transpose', x.shape, axis1);
  return permute(
    x,
    x.shape.map((_, axis) => (axis === a ? b : axis === b ? a : axis)),
  );
}
