import type { TopKShape } from '@concord/backend-core';
import type { Values } from './result.ts';

/**
 * The places in each row of its k best elements, the best first: by sorting the whole row.
 *
 * @returns `[rows, k]`, packed
 */
export function topKReference({ rows, columns, k, largest = true }: TopKShape, input: Values): Uint32Array {
  const indices = new Uint32Array(rows * k);
  for (let row = 0; row < rows; row++) {
    const at = (place: number): number => input[row * columns + place] as number;
    const places = Array.from({ length: columns }, (_, place) => place);
    places.sort((x, y) => (largest ? compare(at(y), at(x)) : compare(at(x), at(y))) || x - y);
    indices.set(places.slice(0, k), row * k);
  }
  return indices;
}

/**
 * Compares: below 0 if x comes before y in the order of the numbers, in which the zeros are equal and NaN is above
 * Infinity.
 */
function compare(x: number, y: number): number {
  if (Number.isNaN(x) || Number.isNaN(y)) return Number(Number.isNaN(x)) - Number(Number.isNaN(y));
  return Number(x > y) - Number(x < y);
}
