import { checkAxes } from '../compute/rows.ts';
import { keyedView, viewOf } from '../tensor/allocate.ts';
import { checkList, checkTensor } from '../tensor/arguments.ts';
import { checkShape } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, broadcastStrides, sameShape } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';

/**
 * A view that repeats axes of size 1, and new ones before the first, over a shape.
 *
 * @throws {BackendError} INVALID_ARGUMENT for a shape that `x` does not broadcast to
 * @example
 * ```ts
 * using x = tensor(backend, [[1], [2]]);
 * await expand(x, [2, 3]).toArray(); // [1, 1, 1, 2, 2, 2]
 * ```
 */
export function expand(x: Tensor, shape: readonly number[]): Tensor {
  checkTensor('expand', 'x', x);
  const to = checkShape('expand', shape);
  const both = broadcastShapes(x.shape, to);
  if (both === undefined || !sameShape(both, to)) {
    throw refuse('expand', `${shapeText(x.shape)} does not broadcast to ${shapeText(to)}`);
  }
  return viewOf(x, { shape: to, strides: broadcastStrides(x.shape, x.strides, to) });
}

/**
 * A view without axes of size 1.
 *
 * @param axes - default: all of size 1
 * @throws {BackendError} INVALID_ARGUMENT for an axis of another size
 * @example
 * ```ts
 * using x = zeros(backend, [1, 3, 1]);
 * squeeze(x).shape; // [3]
 * squeeze(x, -1).shape; // [1, 3]
 * ```
 */
export function squeeze(x: Tensor, axes?: number | readonly number[]): Tensor {
  checkTensor('squeeze', 'x', x);
  const gone = axes === undefined ? undefined : checkAxes('squeeze', x.shape, axes);
  const bad = gone?.find((axis) => x.shape[axis] !== 1);
  if (bad !== undefined) throw refuse('squeeze', `axis ${bad} of ${shapeText(x.shape)} is not of size 1`);
  const keeps = (axis: number): boolean => (gone === undefined ? x.shape[axis] !== 1 : !gone.includes(axis));
  const kept = [...x.shape.keys()].filter(keeps);
  return viewOf(x, {
    shape: kept.map((axis) => x.shape[axis] as number),
    strides: kept.map((axis) => x.strides[axis] as number),
  });
}

/**
 * A view with new axes of size 1.
 *
 * @param axes - their places in the result; negative ones count from its end
 * @throws {BackendError} INVALID_ARGUMENT
 * @example
 * ```ts
 * using x = zeros(backend, [2, 3]);
 * unsqueeze(x, -1).shape; // [2, 3, 1]
 * unsqueeze(x, [0, 2]).shape; // [1, 2, 1, 3]
 * ```
 */
export function unsqueeze(x: Tensor, axes: number | readonly number[]): Tensor {
  checkTensor('unsqueeze', 'x', x);
  if (typeof axes !== 'number') checkList('unsqueeze', 'axes', axes);
  const list = typeof axes === 'number' ? [axes] : [...axes];
  return keyedView(x, ['unsqueeze', ...list], () => {
    const added = list.map(() => 1);
    const places = checkAxes('unsqueeze', checkShape('unsqueeze', [...x.shape, ...added]), list);
    const [shape, strides] = [[...x.shape], [...x.strides]];
    for (const place of places) {
      shape.splice(place, 0, 1);
      strides.splice(place, 0, 1);
    }
    return { shape, strides };
  }) as Tensor;
}
