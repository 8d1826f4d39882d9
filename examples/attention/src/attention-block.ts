import type { ComputeBackend, WaitOptions } from '@concord/backend-core';
import { randomNumbers } from '@concord/example-command';
import { attention, matmul, permute, reshape, type Tensor, tensor, tidy } from '@concord/ops';

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

/** The input of a block, besides its weights. */
export interface BlockInput extends BlockShape {
  /** Number of words: at most `headDim`, so that the weights of all keys fit in a row of one head's output. */
  readonly words: number;
  /** words x dimensions */
  readonly vectors: Float32Array;
  /** True if a word sees only itself and those before it. */
  readonly causal: boolean;
}

/**
 * All that the device has computed, for a table and for the check: `output` is words x dimensions, the others are words x heads x headDim.
 * In `attended`, column j of a head says how much the word attends to word j; the columns beyond the words are 0.
 */
export type BlockResult = Readonly<
  Record<'queries' | 'keys' | 'values' | 'mixed' | 'attended' | 'output', Float32Array>
>;

/**
 * Multi-head attention as in a transformer block: projections to queries, keys and values, attention in each head, and
 * the projection of all heads together. Nothing waits before the results are read.
 */
export async function runBlock(
  backend: ComputeBackend,
  input: BlockInput,
  weights: BlockWeights,
  wait: WaitOptions = {},
): Promise<BlockResult> {
  const { words, dimensions, heads, headDim, causal } = input;
  const width = heads * headDim;
  const made = tidy(() => {
    const vectors = tensor(backend, input.vectors, [words, dimensions]);
    const project = (matrix: Float32Array): Tensor => matmul(vectors, tensor(backend, matrix, [dimensions, width]));
    const [queries, keys, values] = [project(weights.query), project(weights.key), project(weights.value)];
    // The heads of a word stand side by side: a view puts them first, and the result lies as they did.
    const byHead = (rows: Tensor): Tensor => permute(reshape(rows, [1, words, heads, headDim]), [0, 2, 1, 3]);
    const attend = (given: Tensor): Tensor => {
      const result = attention(byHead(queries), byHead(keys), byHead(given), { causal });
      return reshape(permute(result, [0, 2, 1, 3]), [words, width]);
    };
    const mixed = attend(values);
    // The op does not give its weights away. With the unit vectors for values, they are what comes out.
    const attended = attend(tensor(backend, unitVectors(input), [words, width]));
    const output = matmul(mixed, tensor(backend, weights.output, [width, dimensions]));
    return { queries, keys, values, mixed, attended, output };
  });
  try {
    const read = Object.entries(made).map(async ([name, each]) => [name, await each.toArray(wait)] as const);
    return Object.fromEntries(await Promise.all(read)) as BlockResult;
  } finally {
    for (const each of Object.values(made)) each.dispose();
  }
}

/** words x heads x headDim: word j has a one in column j of each head. */
export function unitVectors({ words, heads, headDim }: BlockInput): Float32Array {
  const rows = new Float32Array(words * heads * headDim);
  for (let row = 0; row < words * heads; row++) rows[row * headDim + Math.floor(row / heads)] = 1;
  return rows;
}
