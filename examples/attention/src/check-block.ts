import { attentionReference, batchedGemmReference, gemmReference } from '@concord/backend-cpu/reference';
import { type BlockInput, type BlockResult, unitVectors } from './attention-block.ts';
import type { BlockWeights } from './block-weights.ts';

/** The comparison of the device's results with the oracle's. */
export interface CheckResult {
  readonly passed: boolean;
  /** Number of values compared. */
  readonly values: number;
  /** The largest quotient of a difference and what is allowed there: above 1 is a failure. */
  readonly worstShare: number;
}

/**
 * Computes each step again in float64 from what the device had before it, and judges it by the bound that `docs/numerics.md`
 * gives the op.
 */
export function checkBlock(input: BlockInput, weights: BlockWeights, result: BlockResult): CheckResult {
  const { words, dimensions, heads, headDim, causal } = input;
  const worst = new WorstShare();

  const projection = {
    ...{ m: words, n: headDim, k: dimensions, batchCount: heads },
    ...{ strideA: 0, ldb: heads * headDim, strideB: headDim, strideC: words * headDim },
  };
  for (const [matrix, got] of [
    [weights.query, result.queries],
    [weights.key, result.keys],
    [weights.value, result.values],
  ] as const) {
    const { value, magnitude } = batchedGemmReference(projection, input.vectors, matrix);
    worst.compare(got, value, (i) => productBound(dimensions, magnitude[i] as number));
  }

  const shape = { batch: 1, heads, seqQ: words, seqKv: words, headDim, scale: 1 / Math.sqrt(headDim), causal };
  for (const [values, got] of [
    [result.values, result.mixed],
    [unitVectors(input), result.attended],
  ] as const) {
    const { value, magnitude, scoreMagnitude, spread } = attentionReference(shape, result.queries, result.keys, values);
    worst.compare(got, value, (i) => {
      const row = Math.floor(i / headDim);
      const delta = gamma(headDim + 2) * (scoreMagnitude[row] as number);
      const visible = causal ? (row % words) + 1 : words;
      const scores = 2 * (Math.expm1(2 * delta) + gamma(4 * visible)) * (magnitude[i] as number);
      return scores + U * (spread[i] as number) + (visible + 2) * MIN_NORMAL;
    });
  }

  // Each head adds its product to the sum of those before it, which carries an error already.
  let sum = new Float64Array(words * dimensions);
  let allowed = new Float64Array(sum.length);
  for (let head = 0; head < heads; head++) {
    const offsets = { a: head * words * headDim, b: head * headDim * dimensions };
    const call = { m: words, n: dimensions, k: headDim, beta: head === 0 ? 0 : 1 };
    const before = sum;
    const { value, magnitude } = gemmReference(call, result.mixed, weights.output, before, offsets);
    allowed = allowed.map((error, i) => {
      const kept = error + gamma(3) * (Math.abs(before[i] as number) + error);
      return productBound(headDim, magnitude[i] as number) + kept;
    });
    sum = value as typeof sum;
  }
  worst.compare(result.output, sum, (i) => allowed[i] as number);
  return worst.result();
}

const U = 2 ** -23;
const MIN_NORMAL = 2 ** -126;

function gamma(n: number): number {
  return (n * U) / (1 - n * U);
}

function productBound(terms: number, magnitude: number): number {
  return gamma(terms + 3) * magnitude + (terms + 2) * MIN_NORMAL;
}

class WorstShare {
  #values = 0;
  #share = 0;

  compare(got: Float32Array, want: Float64Array, allowed: (index: number) => number): void {
    this.#values += want.length;
    for (const [index, value] of want.entries()) {
      const share = Math.abs((got[index] ?? Number.NaN) - value) / allowed(index);
      // NaN is as wrong as can be, but compares as if it were not.
      this.#share = Math.max(this.#share, Number.isNaN(share) ? Infinity : share);
    }
  }

  result(): CheckResult {
    return { passed: this.#share <= 1, values: this.#values, worstShare: this.#share };
  }
}
