import { keyedView, viewOf } from '../tensor/allocate.ts';
import { checkNumbers, checkTensor } from '../tensor/arguments.ts';
import { checkShape } from '../tensor/create.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import { denseStrides, reshapedStrides, sizeOf } from '../tensor/shape.ts';
import type { Tensor } from '../tensor/tensor.ts';
import { copy } from './pack.ts';

/**
 * The same elements, row-major, in another shape: a view where the strides allow it, else a copy.
 *
 * @param shape - one size may be -1: what remains
 * @throws {BackendError} INVALID_ARGUMENT where the shape does not hold as many elements
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2, 3], [4, 5, 6]]);
 * reshape(x, [3, -1]).shape; // [3, 2]
 * ```
 */
export function reshape(x: Tensor, shape: readonly number[]): Tensor {
  checkTensor('reshape', 'x', x);
  const to = filledIn(x, shape);
  const view = keyedView(x, ['reshape', ...to], () => {
    const strides = x.isDense ? denseStrides(to) : reshapedStrides(x.shape, x.strides, to);
    return strides && { shape: to, strides };
  });
  if (view !== undefined) return view;
  const packed = copy(x);
  try {
    return viewOf(packed, { shape: to, strides: denseStrides(to) });
  } finally {
    packed.dispose();
  }
}

/**
 * One axis instead of several.
 *
 * @param from - the first axis; default 0
 * @param to - the last one; default -1
 * @throws {BackendError} INVALID_ARGUMENT for an axis out of range
 * @example
 * ```ts
 * using x = zeros(backend, [2, 3, 4]);
 * flatten(x, 1).shape; // [2, 12]
 * ```
 */
export function flatten(x: Tensor, from: number = 0, to: number = -1): Tensor {
  checkTensor('flatten', 'x', x);
  checkNumbers('flatten', { from, to });
  if (x.rank === 0) return reshape(x, [1]);
  const first = from < 0 ? from + x.rank : from;
  const last = to < 0 ? to + x.rank : to;
  if (!(first >= 0 && last >= first && last < x.rank)) {
    throw refuse('flatten', `${shapeText(x.shape)} has no axes ${from} to ${to}`);
  }
  const { shape } = x;
  return reshape(x, [...shape.slice(0, first), sizeOf(shape.slice(first, last + 1)), ...shape.slice(last + 1)]);
}

function filledIn(x: Tensor, shape: readonly number[]): readonly number[] {
  const open = Array.isArray(shape) ? shape.indexOf(-1) : -1;
  if (open < 0) {
    const own = checkShape('reshape', shape);
    if (sizeOf(own) === x.size) return own;
    throw refuse('reshape', `${shapeText(own)} has ${sizeOf(own)} elements, ${shapeText(x.shape)} has ${x.size}`);
  }
  const others = checkShape(
    'reshape',
    shape.filter((_, axis) => axis !== open),
  );
  const rest = x.size / sizeOf(others);
  if (!Number.isInteger(rest)) throw refuse('reshape', `${shapeText(x.shape)} does not fill ${shapeText(shape)}`);
  return [...others.slice(0, open), rest, ...others.slice(open)];
}
