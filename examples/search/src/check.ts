import { gemmReference } from '@concord/backend-cpu/reference';
import type { Answer } from './search-index.ts';
import { tokenize } from './tokenize.ts';
import { DIMENSIONS, unitVector } from './unit-vector.ts';

/** The largest difference of a hit from the oracle, what is allowed, and how many scores were computed. */
export type CheckResult = Readonly<{ passed: boolean; largestDifference: number; allowed: number; scores: number }>;

/** The error that the contract allows a product of vectors of length 1: the error of k + 3 roundings. */
const ALLOWED = ((DIMENSIONS + 3) * 2 ** -23) / (1 - (DIMENSIONS + 3) * 2 ** -23);

/** Computes the scores of texts again in float64. Each hit must have its own, and the n-th that of the n-th best text. */
export function checkHits(hits: Answer['hits'], texts: string[], question: Float32Array, top: number): CheckResult {
  const scoreOf = (text: string): number =>
    gemmReference({ m: 1, n: 1, k: DIMENSIONS }, unitVector(tokenize(text)), question).value[0] as number;
  const best = texts.map(scoreOf).sort((a, b) => b - a);
  const differences = hits.map(({ text, score }) => score - scoreOf(text));
  // A score that is not above 0 is no hit.
  for (let n = 0; n < top; n++) differences.push(Math.max(best[n] ?? 0, 0) - (hits[n]?.score ?? 0));
  const largestDifference = Math.max(...differences.map(Math.abs));
  return { passed: largestDifference <= ALLOWED, largestDifference, allowed: ALLOWED, scores: texts.length };
}
