import type { HeadStrides } from '@concord/backend-core';
import { attentionReference, gemmReference } from '@concord/backend-cpu/reference';
import { type BlockInput, type BlockResult, type BlockWeights, unitVectors } from './attention-block.ts';

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
  const width = heads * headDim;
  let [values, worstShare] = [0, 0];
  const compare = (got: Float32Array, want: Float64Array, allowed: (index: number) => number): void => {
    values += want.length;
    for (const [index, value] of want.entries()) {
      const share = Math.abs((got[index] ?? Number.NaN) - value) / allowed(index);
      // NaN is as wrong as can be, but compares as if it were not.
      worstShare = Math.max(worstShare, Number.isNaN(share) ? Infinity : share);
    }
  };
  const compareProduct = (
    m: number,
    n: number,
    k: number,
    a: Float32Array,
    b: Float32Array,
    got: Float32Array,
  ): void => {
    const { value, magnitude } = gemmReference({ m, n, k }, a, b);
    compare(got, value, (i) => productBound(k, magnitude[i] as number));
  };
  compareProduct(words, width, dimensions, input.vectors, weights.query, result.queries);
  compareProduct(words, width, dimensions, input.vectors, weights.key, result.keys);
  compareProduct(words, width, dimensions, input.vectors, weights.value, result.values);

  const rows: HeadStrides = [words * width, headDim, width];
  const shape = {
    ...{ batch: 1, heads, seqQ: words, seqKv: words, headDim, scale: 1 / Math.sqrt(headDim), causal },
    strides: { q: rows, k: rows, v: rows, o: rows },
  };
  for (const [given, got] of [
    [result.values, result.mixed],
    [unitVectors(input), result.attended],
  ] as const) {
    const { value, magnitude, scoreMagnitude, spread } = attentionReference(shape, result.queries, result.keys, given);
    // The oracle's results are heads x words x headDim.
    const rowOf = (i: number): number => (Math.floor(i / headDim) % heads) * words + Math.floor(i / width);
    const at = (i: number): number => rowOf(i) * headDim + (i % headDim);
    const want = value.map((_, i) => value[at(i)] as number);
    compare(got, want, (i) => {
      const delta = gamma(headDim + 2) * (scoreMagnitude[rowOf(i)] as number);
      const visible = causal ? Math.floor(i / width) + 1 : words;
      const scores = 2 * (Math.expm1(2 * delta) + gamma(4 * visible)) * (magnitude[at(i)] as number);
      return scores + U * (spread[at(i)] as number) + (visible + 2) * MIN_NORMAL;
    });
  }
  compareProduct(words, dimensions, width, result.mixed, weights.output, result.output);
  return { passed: worstShare <= 1, values, worstShare };
}

const U = 2 ** -23;
const MIN_NORMAL = 2 ** -126;

function gamma(n: number): number {
  return (n * U) / (1 - n * U);
}

function productBound(terms: number, magnitude: number): number {
  return gamma(terms + 3) * magnitude + (terms + 2) * MIN_NORMAL;
}
