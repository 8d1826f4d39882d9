import { checkAxis } from '../compute/rows.ts';
import { viewOf } from '../tensor/allocate.ts';
import { flip } from '../shaping/flip.ts';
import { checkList, checkTensor, shown } from '../tensor/arguments.ts';
import { refuse, shapeText } from '../tensor/errors.ts';
import type { Tensor } from '../tensor/tensor.ts';

/** The part taken of an axis: all (null), one index, which removes the axis, or from `start` to before `stop`. */
export type Range = null | number | readonly [start: number | null, stop?: number | null, step?: number];

/**
 * A view of a part, as `x[i, a:b:c, ...]` of NumPy: a range for each axis from the first on, the others whole. Negative
 * places count from the end, places beyond it are cut. A negative step goes backwards; the result is then a copy, as the
 * strides of views are not negative.
 *
 * @throws {BackendError} INVALID_ARGUMENT for an index outside its axis, a step of 0, more ranges than axes
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * using x = tensor(backend, [[1, 2, 3], [4, 5, 6]]);
 * await slice(x, [null, [0, 2]]).toArray(); // [1, 2, 4, 5]
 * await slice(x, [-1]).toArray(); // [4, 5, 6]
 * await slice(x, [0, [null, null, 2]]).toArray(); // [1, 3]
 * await slice(x, [0, [null, 0, -1]]).toArray(); // [3, 2]
 * ```
 */
export function slice(x: Tensor, ranges: readonly Range[]): Tensor {
  checkTensor('slice', 'x', x);
  if (!Array.isArray(ranges)) throw refuse('slice', `takes a list of ranges, one an axis, got ${shown(ranges)}`);
  if (ranges.length > x.rank) throw refuse('slice', `${ranges.length} ranges for the axes of ${shapeText(x.shape)}`);
  const shape: number[] = [];
  const strides: number[] = [];
  const backwards: number[] = [];
  let { offset } = x;
  for (let axis = 0; axis < x.rank; axis++) {
    const length = x.shape[axis] as number;
    const stride = x.strides[axis] as number;
    const range = ranges[axis] ?? null;
    if (range === null) {
      shape.push(length);
      strides.push(stride);
      continue;
    }
    if (typeof range === 'number') {
      const index = range < 0 ? range + length : range;
      if (!Number.isInteger(index) || index < 0 || index >= length) {
        throw refuse('slice', `index ${range} is outside axis ${axis} of ${shapeText(x.shape)}`);
      }
      offset += index * stride;
      continue;
    }
    checkList('slice', `the range of axis ${axis}`, range);
    const { start, count, step } = placesOf(x, axis, range as Exclude<Range, null | number>);
    // Where nothing is left there is no first element to point at.
    if (count > 0) offset += (step < 0 ? start + (count - 1) * step : start) * stride;
    if (step < 0) backwards.push(shape.length);
    shape.push(count);
    strides.push(stride * Math.abs(step));
  }
  const part = viewOf(x, { shape, strides, offset });
  if (backwards.length === 0) return part;
  try {
    return flip(part, { axis: backwards });
  } finally {
    part.dispose();
  }
}

/**
 * Views of consecutive parts along an axis.
 *
 * @param parts - how many equal ones, or the size of each
 * @param axis - default 0
 * @throws {BackendError} INVALID_ARGUMENT for sizes that do not add up to the axis
 * @example
 * ```ts
 * using qkv = tensor(backend, [[1, 2, 3], [4, 5, 6]]);
 * const [q, k, v] = split(qkv, 3, 1);
 * await k.toArray(); // [2, 5]
 * ```
 */
export function split(x: Tensor, parts: number | readonly number[], axis: number = 0): Tensor[] {
  checkTensor('split', 'x', x);
  const own = checkAxis('split', x.shape, axis);
  const length = x.shape[own] as number;
  if (typeof parts !== 'number') checkList('split', 'parts', parts);
  if (typeof parts === 'number' && !(Number.isInteger(length / parts) && parts > 0)) {
    throw refuse('split', `axis ${own} of ${shapeText(x.shape)} has no ${parts} equal parts`);
  }
  const sizes = typeof parts === 'number' ? equalParts(length, parts) : [...parts];
  const total = sizes.reduce((sum, size) => sum + size, 0);
  if (sizes.length === 0 || total !== length || !sizes.every((size) => Number.isInteger(size) && size >= 0)) {
    throw refuse('split', `axis ${own} of ${shapeText(x.shape)} is not ${shown(sizes)} together`);
  }
  let start = 0;
  return sizes.map((size) => {
    const ranges: Range[] = x.shape.map((_, each) => (each === own ? [start, start + size] : null));
    start += size;
    return slice(x, ranges);
  });
}

function equalParts(length: number, parts: number): readonly number[] {
  // More parts than elements, of which none could be whole, are refused without a list of them.
  const isWhole = Number.isInteger(parts) && parts > 0 && (length === 0 || length % parts === 0);
  return isWhole ? Array.from({ length: parts }, () => length / parts) : [length / parts];
}

function placesOf(x: Tensor, axis: number, [from, to, by]: Exclude<Range, null | number>): Places {
  const length = x.shape[axis] as number;
  const step = by ?? 1;
  if (!Number.isInteger(step) || step === 0) throw refuse('slice', `step ${shown(by)} of axis ${axis} is not a step`);
  // Backwards, what is beyond the first element is -1.
  const [first, end] = step > 0 ? [0, length] : [-1, length - 1];
  const placeOf = (place: number | null | undefined, otherwise: number): number => {
    if (place === null || place === undefined) return otherwise;
    if (!Number.isInteger(place)) throw refuse('slice', `place ${shown(place)} of axis ${axis} is not an integer`);
    return Math.min(end, Math.max(first, place < 0 ? place + length : place));
  };
  const start = placeOf(from, step > 0 ? first : end);
  return { start, count: Math.max(0, Math.ceil((placeOf(to, step > 0 ? end : first) - start) / step)), step };
}

interface Places {
  readonly start: number;
  readonly count: number;
  readonly step: number;
}
