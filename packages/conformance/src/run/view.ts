import type { Random } from '../harness/random.ts';

/** The ways in which an operand can lie in memory. */
export const VIEW_KINDS = ['dense', 'padded', 'transposed', 'permuted', 'repeated', 'scalar', 'mixed'] as const;

/** One of {@link VIEW_KINDS}. */
export type ViewKind = (typeof VIEW_KINDS)[number];

/** A stride that an axis of size 1 may have, as it is not used. */
const NONSENSE = 1_000_003;

/** Number of elements of a shape. */
export function sizeOf(shape: readonly number[]): number {
  return shape.reduce((product, size) => product * size, 1);
}

/** Elements between the first and the last of a view, both included; 0 where there is none. */
export function extentOf(shape: readonly number[], strides: readonly number[]): number {
  if (shape.includes(0)) return 0;
  return shape.reduce((sum, size, axis) => sum + (size - 1) * (size > 1 ? (strides[axis] as number) : 0), 1);
}

/** Row-major strides without gaps. */
export function denseStrides(shape: readonly number[]): number[] {
  return inOrder(shape, rowMajor(shape.length), () => 0);
}

/**
 * Strides of a view of that kind. Outputs do not repeat elements: for them `repeated` and `scalar` are `padded`.
 *
 * @param isOutput - whether each element needs its own address
 */
export function drawStrides(random: Random, kind: ViewKind, shape: readonly number[], isOutput: boolean): number[] {
  const order = rowMajor(shape.length);
  const gap = (): number => random.pick([0, 0, 1, 3]);
  const strides = ((): number[] => {
    switch (kind) {
      case 'dense':
        return denseStrides(shape);
      case 'padded':
        return inOrder(shape, order, (index) => (index === 0 ? random.pick([0, 1, 2]) : random.pick([0, 1, 5])));
      case 'transposed':
        return inOrder(shape, [...order].reverse(), () => 0);
      case 'permuted':
        return inOrder(shape, random.permutation(shape.length), gap);
      case 'repeated':
        return isOutput ? inOrder(shape, order, gap) : repeating(random, shape);
      case 'scalar':
        return isOutput ? inOrder(shape, order, gap) : shape.map(() => 0);
      case 'mixed':
        return drawStrides(random, random.pick(VIEW_KINDS.slice(0, 6)), shape, isOutput);
    }
  })();
  if (kind === 'dense' || kind === 'mixed') return strides;
  return strides.map((stride, axis) => (shape[axis] === 1 ? NONSENSE + axis : stride));
}

/** Calls `visit` with the row-major number of each point and its distance from the first, in elements. */
export function eachElement(
  shape: readonly number[],
  strides: readonly number[],
  visit: (index: number, distance: number) => void,
): void {
  const total = sizeOf(shape);
  const step = shape.map((size, axis) => (size > 1 ? (strides[axis] as number) : 0));
  const place = shape.map(() => 0);
  let distance = 0;
  for (let index = 0; index < total; index++) {
    visit(index, distance);
    for (let axis = shape.length - 1; axis >= 0; axis--) {
      place[axis] = (place[axis] as number) + 1;
      distance += step[axis] as number;
      if ((place[axis] as number) < (shape[axis] as number)) break;
      distance -= (shape[axis] as number) * (step[axis] as number);
      place[axis] = 0;
    }
  }
}

/** The place of a point along each axis, of its row-major number. */
export function placeOf(index: number, shape: readonly number[]): number[] {
  const place: number[] = [];
  let rest = index;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    const size = shape[axis] as number;
    place.unshift(rest % size);
    rest = Math.floor(rest / size);
  }
  return place;
}

function rowMajor(rank: number): number[] {
  return Array.from({ length: rank }, (_, index) => rank - 1 - index);
}

/** Strides with the axes of `order` from the fastest to the slowest, `gap` elements left out before each. */
function inOrder(shape: readonly number[], order: readonly number[], gap: (index: number) => number): number[] {
  const strides = shape.map(() => 0);
  let reach = 1;
  for (const [index, axis] of order.entries()) {
    const stride = reach + gap(index);
    strides[axis] = stride;
    if (shape[axis] !== 1) reach = stride * (shape[axis] as number);
  }
  return strides;
}

function repeating(random: Random, shape: readonly number[]): number[] {
  const isRepeated = shape.map(() => random.chance(0.5));
  if (shape.length > 0) isRepeated[random.integer(0, shape.length - 1)] = true;
  const kept = shape.map((size, axis) => (isRepeated[axis] === true ? 1 : size));
  const strides = inOrder(kept, rowMajor(shape.length), () => 0);
  return strides.map((stride, axis) => (isRepeated[axis] === true ? 0 : stride));
}
