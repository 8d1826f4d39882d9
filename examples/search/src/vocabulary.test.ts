import { expect, test } from 'vitest';
import { DIMENSIONS, fnv1a, Vocabulary } from './vocabulary.ts';

test('FNV-1a of the two bytes of each code unit', () => {
  expect(fnv1a('')).toBe(0x811c9dc5);
  // By hand: ((offset ^ 0x61) * prime, then ^ 0) * prime, modulo 2^32.
  const prime = 0x01000193n;
  const expected = (((0x811c9dc5n ^ 0x61n) * prime) % 2n ** 32n) * prime;
  expect(fnv1a('a')).toBe(Number(expected % 2n ** 32n));
});

test('weighs a term by how often it is in the text and how rare elsewhere', () => {
  const vocabulary = new Vocabulary();
  const first = vocabulary.learn(['rare', 'common', 'common']);
  vocabulary.learn(['common']);
  const row = new Float32Array(DIMENSIONS);
  expect(vocabulary.addVector(first, row)).toBe(true);
  const weights = [...row].filter((value) => value !== 0).map(Math.abs);
  const rare = 1 + Math.log(3 / 2);
  const common = (1 + Math.log(2)) * 1;
  expect(new Set(weights)).toEqual(new Set([rare, common].map(Math.fround)));
  expect(vocabulary.size).toBe(2);
});

test('leaves out what no passage has', () => {
  const vocabulary = new Vocabulary();
  vocabulary.learn(['known']);
  expect(vocabulary.count(['unknown'])).toHaveLength(0);
  expect(vocabulary.addVector(vocabulary.count(['unknown']), new Float32Array(DIMENSIONS))).toBe(false);
});
