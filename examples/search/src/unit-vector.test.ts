import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { DIMENSIONS, unitVector } from './unit-vector.ts';

const lengthOf = (vector: Float32Array): number => Math.hypot(...vector);

test('weighs a term by how often it is there and by its weight, with the sign of its hash', () => {
  const vector = unitVector(['rare', 'common', 'common'], (term) => (term === 'rare' ? 3 : 1));
  const value = (term: string): number => vector[crc32(term) % DIMENSIONS] as number;
  const sign = (term: string): number => (crc32(term) < 2 ** 31 ? 1 : -1);
  const weights = { rare: 3 * sign('rare'), common: (1 + Math.log(2)) * sign('common') };
  expect(lengthOf(vector)).toBeCloseTo(1, 6);
  expect(value('rare') / value('common')).toBeCloseTo(weights.rare / weights.common, 5);
  expect(Math.sign(value('rare'))).toBe(sign('rare'));
  expect(vector.filter((each) => each !== 0)).toHaveLength(2);
});

test('adds up terms that fall on one dimension, and is zero without terms', () => {
  const terms = Array.from({ length: 5000 }, (_, i) => `term${i}`);
  expect(lengthOf(unitVector(terms))).toBeCloseTo(1, 5);
  expect(lengthOf(unitVector([]))).toBe(0);
});
