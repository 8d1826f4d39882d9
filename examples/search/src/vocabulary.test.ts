import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { DIMENSIONS, tokenize, unitVector, Vocabulary } from './vocabulary.ts';

test('knows which passages have a term, and how rare that makes it', () => {
  const vocabulary = new Vocabulary();
  vocabulary.learn(7, ['rare', 'common', 'common']);
  vocabulary.learn(9, ['common']);
  expect([...vocabulary.passagesWith('common')]).toEqual([7, 9]);
  expect(vocabulary.passagesWith('unknown').size).toBe(0);
  const weights: Record<string, number> = { rare: 1 + Math.log(3 / 2), common: 1 };
  expect(vocabulary.vectorOf(['rare', 'common'])).toEqual(unitVector(['rare', 'common'], (term) => weights[term] ?? 0));
});

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

test('takes words and numbers of any script, in lower case', () => {
  expect(tokenize('Ärger mit Node 20.19: Прощай!')).toEqual(['ärger', 'mit', 'node', '20', '19', 'прощай']);
});

test('leaves out stop words, single letters and addresses', () => {
  expect(tokenize('How do I report a security problem x?')).toEqual(['report', 'security', 'problem']);
  expect(tokenize('see https://example.org/a?b=c now')).toEqual(['see', 'now']);
  expect(tokenize('how do I?')).toEqual([]);
});

test('takes composed and decomposed letters for the same', () => {
  expect(tokenize('cafe\u0301')).toEqual(tokenize('caf\u00e9'));
});
