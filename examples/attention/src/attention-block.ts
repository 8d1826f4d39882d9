import { type ComputeBackend, download, offsetPtr, type WaitOptions, withBuffers } from '@concord/backend-core';
import type { BlockShape, BlockWeights } from './block-weights.ts';

/** The input of a block, besides its weights. */
export interface BlockInput extends BlockShape {
  /** Number of words: at most `headDim`, so that the weights of all keys fit in a row of one head's output. */
  readonly words: number;
  /** words x dimensions */
  readonly vectors: Float32Array;
  /** True if a word sees only itself and those before it. */
  readonly causal: boolean;
}

/** All that the device has computed, for a table and for the check. */
export interface BlockResult {
  /** heads x words x headDim each */
  readonly queries: Float32Array;
  readonly keys: Float32Array;
  readonly values: Float32Array;
  readonly mixed: Float32Array;
  /** heads x words x headDim: how much word i attends to word j, in column j; the columns beyond the words are 0. */
  readonly attended: Float32Array;
  /** words x dimensions */
  readonly output: Float32Array;
}

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
  const perHead = words * headDim;
  const width = heads * headDim;
  return withBuffers(backend, async (scope) => {
    const vectors = scope.upload(input.vectors, { label: 'vectors' });
    // One product a head, with its own columns: the result is split into heads already.
    const project = (matrix: Float32Array, label: string) => {
      const c = scope.alloc(4 * heads * perHead, { label });
      backend.batchedGemm({
        ...{ m: words, n: headDim, k: dimensions, batchCount: heads },
        ...{ a: vectors, strideA: 0 },
        ...{ b: scope.upload(matrix), ldb: width, strideB: headDim },
        ...{ c, strideC: perHead },
      });
      return c;
    };
    const q = project(weights.query, 'queries');
    const k = project(weights.key, 'keys');
    const v = project(weights.value, 'values');

    const shape = { batch: 1, heads, seqQ: words, seqKv: words, headDim, scale: 1 / Math.sqrt(headDim), causal };
    const mixed = scope.alloc(4 * heads * perHead, { label: 'mixed' });
    backend.attention({ ...shape, q, k, v, o: mixed });
    // The op does not give its weights away. With the unit vectors for values, they are what comes out.
    const attended = scope.alloc(4 * heads * perHead, { label: 'attended' });
    backend.attention({ ...shape, q, k, v: scope.upload(unitVectors(input)), o: attended });

    const projection = scope.upload(weights.output);
    const output = scope.alloc(4 * words * dimensions, { label: 'output' });
    for (let head = 0; head < heads; head++) {
      backend.gemm({
        ...{ m: words, n: dimensions, k: headDim, c: output, beta: head === 0 ? 0 : 1 },
        a: offsetPtr(mixed, 4 * head * perHead),
        b: offsetPtr(projection, 4 * head * headDim * dimensions),
      });
    }
    const read = (ptr: typeof q) => download(backend, ptr, heads * perHead, wait);
    return {
      queries: await read(q),
      keys: await read(k),
      values: await read(v),
      mixed: await read(mixed),
      attended: await read(attended),
      output: await download(backend, output, words * dimensions, wait),
    };
  });
}

/** heads x words x headDim: row j of each head has a one in column j. */
export function unitVectors({ words, heads, headDim }: BlockInput): Float32Array {
  const rows = new Float32Array(heads * words * headDim);
  for (let row = 0; row < heads * words; row++) rows[row * headDim + (row % words)] = 1;
  return rows;
}
