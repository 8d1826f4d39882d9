import { expect, test } from 'vitest';
import { checkHits } from './search-index.ts';
import { tokenize, unitVector } from './vocabulary.ts';

const TEXTS = ['red apple', 'green apple tree', 'apple pie with red cherries', 'blue sky'];
const question = unitVector(['red', 'apple']);
const hits = TEXTS.map((text) => {
  const vector = unitVector(tokenize(text));
  return { file: 'a.md', line: 1, text, score: vector.reduce((sum, x, i) => sum + x * (question[i] as number), 0) };
}).sort((a, b) => b.score - a.score);

test('passes the best hits, with room to spare', () => {
  const result = checkHits(hits.slice(0, 2), TEXTS, question, 2);
  expect(result).toMatchObject({ passed: true, scores: 4 });
  expect(result.largestDifference).toBeLessThan(result.allowed / 100);
});

test('fails on a score that is off, on NaN, and where a better passage was left out', () => {
  const wrong = (score: number): boolean =>
    checkHits([{ ...(hits[0] as (typeof hits)[0]), score }], TEXTS, question, 1).passed;
  expect(wrong(hits[0]?.score as number)).toBe(true);
  expect(wrong((hits[0]?.score as number) + 1e-3)).toBe(false);
  expect(wrong(Number.NaN)).toBe(false);
  expect(checkHits(hits.slice(1, 3), TEXTS, question, 2).passed).toBe(false);
  expect(checkHits(hits.slice(0, 1), TEXTS, question, 2).passed).toBe(false);
});
