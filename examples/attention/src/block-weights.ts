import { randomNumbers } from '@concord/example-command';
/** The sizes of a block. */
export interface BlockShape {
  /** Length of a word's vector. */
  readonly dimensions: number;
  readonly heads: number;
  /** Length of a head's part of a query, key or value. */
  readonly headDim: number;
}

/** The four matrices of a block's attention, row-major. */
export interface BlockWeights {
  /** dimensions x (heads * headDim) each; the columns of a head stand together. */
  readonly query: Float32Array;
  readonly key: Float32Array;
  readonly value: Float32Array;
  /** (heads * headDim) x dimensions */
  readonly output: Float32Array;
}

/**
 * Untrained weights: random, and the same on every run. Queries and keys share theirs (as in the Reformer,
 * Kitaev et al. 2020), so that their products are, up to noise, those of the words' vectors (Johnson and Lindenstrauss).
 * Where a trained block attends to what it has learnt, this one attends to words used in the same places.
 */
export function untrainedWeights({ dimensions, heads, headDim }: BlockShape): BlockWeights {
  const size = dimensions * heads * headDim;
  const random = randomNumbers(1);
  const draw = (variance: number): Float32Array =>
    Float32Array.from({ length: size }, () => (2 * random() - 1) * Math.sqrt(3 * variance));
  // Vectors of length 1 then have scores of sqrt(headDim) / 2 times their cosine: 4 for a word and itself.
  const shared = draw(1 / 2);
  return { query: shared, key: shared, value: draw(1), output: draw(1 / (heads * headDim)) };
}
