import { crc32 } from 'node:zlib';

/** Length of every vector. */
export const DIMENSIONS = 1024;

/**
 * The terms of a text hashed into a vector of length 1, or 0 without any. One that occurs n times weighs `(1 + ln n)
 * weightOf(term)`. Terms may share a dimension; their signs, hashed too, make that cancel out on average.
 */
export function unitVector(tokens: readonly string[], weightOf: (term: string) => number = () => 1): Float32Array {
  const counts = new Map<string, number>();
  for (const token of tokens) counts.set(token, (counts.get(token) ?? 0) + 1);
  const vector = new Float32Array(DIMENSIONS);
  for (const [term, count] of counts) {
    const hash = crc32(term);
    const weight = (1 + Math.log(count)) * weightOf(term);
    // The dimension does not depend on the top bit.
    vector[hash % DIMENSIONS] = (vector[hash % DIMENSIONS] as number) + (hash >= 2 ** 31 ? -weight : weight);
  }
  const length = Math.sqrt(vector.reduce((sum, value) => sum + value * value, 0));
  return length === 0 ? vector : vector.map((value) => value / length);
}
