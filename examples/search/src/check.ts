import { batchedGemmReference, gemmReference } from '@concord/backend-cpu/reference';
import type { Scores } from './passage-matrix.ts';
import type { VectorBlock } from './vectorise.ts';
import { DIMENSIONS } from './vocabulary.ts';

/** How the device's scores compare with the oracle's. */
export interface CheckResult {
  readonly passed: boolean;
  /** Largest |device - oracle| of any score, and of their maximum and mean. */
  readonly largestDifference: number;
  /** What was allowed there. */
  readonly allowed: number;
  /** The largest quotient of a difference and what was allowed: above 1 is a failure. */
  readonly worstShare: number;
  /** Number of scores compared. */
  readonly scores: number;
}

/**
 * Computes every score again in float64 from the same float32 vectors, and judges each by the error that the contract
 * allows the ops that made it.
 *
 * With u = 2^-23 and gamma_n = n u / (1 - n u): the product of a row a and the query b is off by at most gamma_{k+3}
 * sum|a||b| + (k + 2) 2^-126. A sum of k squares is off by gamma_{k+1} of itself, as no terms cancel; the root halves
 * that and adds 3 roundings, so that a length is off by gamma_h of itself, h = k / 2 + 5. Both lengths, their product (4)
 * and the quotient (3) add gamma_{2h+7} of the score. The maximum adds nothing, the mean the error of a reduction.
 */
export function checkScores(scores: Scores, query: Float32Array, blocks: Iterable<VectorBlock>): CheckResult {
  const queryNorm = Math.sqrt(sumsOfSquares(query, 1)[0] as number);
  const worst = new WorstDifference();
  let row = 0;
  let best = -Infinity;
  let bestAllowed = 0;
  let sum = 0;
  let sumMagnitude = 0;
  let sumAllowed = 0;
  for (const { values, passages } of blocks) {
    const rows = passages.length;
    const { value, magnitude } = gemmReference({ m: rows, n: 1, k: DIMENSIONS }, values, query);
    const squares = sumsOfSquares(values, rows);
    for (let i = 0; i < rows; i++, row++) {
      const lengths = Math.sqrt(squares[i] as number) * queryNorm;
      const want = (value[i] as number) / lengths;
      const allowed = scoreBound(want, (magnitude[i] as number) / lengths, 1 / lengths);
      worst.add(scores.values[row] as number, want, allowed);
      best = Math.max(best, want);
      bestAllowed = Math.max(bestAllowed, allowed);
      sum += want;
      sumMagnitude += Math.abs(want);
      sumAllowed += allowed;
    }
  }
  const length = Math.min(row, 1024 + 2 * Math.ceil(Math.log2(row)));
  worst.add(scores.best, best, bestAllowed);
  worst.add(scores.average, sum / row, (sumAllowed + gamma(length + 3) * (sumMagnitude + sumAllowed)) / row);
  return worst.result(row);
}

const K = DIMENSIONS;
const LENGTH_ROUNDINGS = K / 2 + 5;

function scoreBound(score: number, magnitude: number, scale: number): number {
  const product = gamma(K + 3) * magnitude + (K + 2) * 2 ** -126 * scale;
  const division = gamma(2 * LENGTH_ROUNDINGS + 7);
  return product + division * (Math.abs(score) + product);
}

function gamma(n: number): number {
  const nu = n * 2 ** -23;
  return nu / (1 - nu);
}

/** The product of each row with itself. */
function sumsOfSquares(values: Float32Array, rows: number): Float64Array {
  const shape = { m: 1, n: 1, k: K, batchCount: rows, strideA: K, strideB: K, strideC: 1 };
  return batchedGemmReference(shape, values, values).value;
}

class WorstDifference {
  #difference = 0;
  #allowed = 0;
  #share = 0;

  add(got: number, want: number, allowed: number): void {
    // NaN is as wrong as can be, but compares as if it were not.
    const difference = Number.isNaN(got) ? Infinity : Math.abs(got - want);
    if (difference > this.#difference || this.#allowed === 0) {
      this.#difference = difference;
      this.#allowed = allowed;
    }
    this.#share = Math.max(this.#share, difference / allowed);
  }

  result(scores: number): CheckResult {
    return {
      passed: this.#share <= 1,
      largestDifference: this.#difference,
      allowed: this.#allowed,
      worstShare: this.#share,
      scores,
    };
  }
}
