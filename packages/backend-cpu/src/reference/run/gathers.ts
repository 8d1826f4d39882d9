import { anyOf, hull, type Interval } from './interval.ts';
import type { LoadedInput } from './operands.ts';

/** An element that may be one of more than this many is taken for anything. */
const MAX_CANDIDATES = 64;

/** The element of an input at one index for each axis, or `otherwise` where one is outside. */
export function gathered(input: LoadedInput, indices: readonly Interval[], otherwise: Interval): Interval {
  const { shape, strides, type } = input.layout;
  let offsets: readonly number[] = [0];
  let mayBeOutside = false;
  for (const [axis, index] of indices.entries()) {
    const size = shape[axis] as number;
    const candidates = candidatesOf(index, size);
    if (candidates === undefined || offsets.length * candidates.length > MAX_CANDIDATES) return anyOf(type);
    mayBeOutside ||= index.lo < 0 || index.hi >= size;
    offsets = offsets.flatMap((offset) => candidates.map((at) => offset + at * (strides[axis] as number)));
  }
  const values = offsets.map(input.at);
  if (mayBeOutside || values.length === 0) values.push(otherwise);
  return values.reduce(hull);
}

/** The indices inside of an axis; undefined where they are too many. */
function candidatesOf(index: Interval, size: number): readonly number[] | undefined {
  if (index.choices !== undefined) {
    const inside = index.choices.filter((at) => at < size);
    return inside.length > MAX_CANDIDATES ? undefined : inside;
  }
  const first = Math.max(index.lo, 0);
  const count = Math.max(Math.min(index.hi, size - 1) - first + 1, 0);
  return count > MAX_CANDIDATES ? undefined : Array.from({ length: count }, (_, at) => first + at);
}
