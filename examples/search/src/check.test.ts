import { expect, test } from 'vitest';
import { checkScores } from './check.ts';
import { vectorBlocks } from './vectorise.ts';
import { DIMENSIONS, Vocabulary } from './vocabulary.ts';

const vocabulary = new Vocabulary();
const texts = [
  ['red', 'apple'],
  ['green', 'apple'],
  ['blue', 'sky'],
].map((tokens) => vocabulary.learn(tokens));
const query = new Float32Array(DIMENSIONS);
vocabulary.addVector(vocabulary.count(['red', 'apple']), query);
const blocks = (): ReturnType<typeof vectorBlocks> => vectorBlocks(texts, vocabulary, 2);

/** Scores as a right device gives them. */
function rightScores(): { values: Float32Array; best: number; average: number } {
  const rows: Float32Array[] = [];
  for (const { values, passages } of blocks()) {
    for (const row of passages.keys()) rows.push(values.slice(row * DIMENSIONS, (row + 1) * DIMENSIONS));
  }
  const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, x, i) => sum + x * (b[i] as number), 0);
  const values = Float32Array.from(rows, (row) => dot(row, query) / Math.sqrt(dot(row, row) * dot(query, query)));
  return { values, best: Math.max(...values), average: values.reduce((sum, x) => sum + x, 0) / values.length };
}

test('passes right scores, with room to spare', () => {
  const result = checkScores(rightScores(), query, blocks());
  expect(result).toMatchObject({ passed: true, scores: 3 });
  expect(result.largestDifference).toBeLessThan(1e-6);
  expect(result.worstShare).toBeLessThan(0.1);
});

test.each([0, 1, 2])('fails when score %i is off by a thousandth', (index) => {
  const scores = rightScores();
  scores.values[index] = (scores.values[index] as number) + 1e-3;
  const result = checkScores(scores, query, blocks());
  expect(result.passed).toBe(false);
  expect(result.largestDifference).toBeCloseTo(1e-3, 5);
});

test('fails on NaN, and on a wrong maximum or mean', () => {
  const scores = rightScores();
  const broken = Float32Array.from(scores.values).fill(Number.NaN, 1, 2);
  expect(checkScores({ ...scores, values: broken }, query, blocks()).passed).toBe(false);
  expect(checkScores({ ...scores, best: 0.5 }, query, blocks()).passed).toBe(false);
  expect(checkScores({ ...scores, average: scores.average * 1.01 }, query, blocks()).passed).toBe(false);
});
