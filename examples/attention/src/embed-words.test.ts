import { expect, test } from 'vitest';
import { embedWords } from './embed-words.ts';

const PASSAGES = [
  ['apple', 'tree', 'garden', 'fruit'],
  ['pear', 'tree', 'garden', 'fruit'],
  ['engine', 'wheel', 'road', 'oil'],
  ['brake', 'wheel', 'road', 'oil', 'oil'],
  [],
];

function cosine(a: Float32Array, b: Float32Array): number {
  return a.reduce((sum, value, i) => sum + value * (b[i] as number), 0);
}

test('words that are used in the same places are alike, also if never together', () => {
  const vectors = embedWords(['apple', 'pear', 'engine', 'brake'], PASSAGES);
  const [apple, pear, engine, brake] = [...vectors.values()] as [
    Float32Array,
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  for (const vector of vectors.values()) expect(cosine(vector, vector)).toBeCloseTo(1, 5);
  expect(cosine(apple, pear)).toBeGreaterThan(0.9);
  expect(cosine(engine, brake)).toBeGreaterThan(0.9);
  expect(cosine(apple, engine)).toBeLessThan(0);
});

test('gives nothing for a word that no passage has, and zeros where nothing tells words apart', () => {
  expect([...embedWords(['apple', 'plum'], PASSAGES).keys()]).toEqual(['apple']);
  expect(
    embedWords(['alone'], [['alone']])
      .get('alone')
      ?.some(Number.isNaN),
  ).toBe(false);
});
