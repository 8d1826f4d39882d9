import type { AttentionShape } from '@concord/backend-core';
import { attentionReference } from '@concord/backend-cpu/reference';
import type { BenchCase, ExpectedEntry } from '../bench-case.ts';
import { noiseInput } from '../noise.ts';

type Sizes = Pick<AttentionShape, 'heads' | 'seqQ' | 'seqKv' | 'headDim' | 'causal'>;

/** Attention of all heads of one layer. */
export function attentionCase(origin: string, text: string, sizes: Sizes): BenchCase {
  const { heads, seqQ, seqKv, headDim, causal = false } = sizes;
  const shape: AttentionShape = { batch: 1, ...sizes, scale: 1 / Math.sqrt(headDim) };
  const [queries, keys] = [heads * seqQ * headDim, heads * seqKv * headDim];
  const seen = causal ? (seqQ * (seqQ + 1)) / 2 : seqQ * seqKv;
  return {
    id: `attention/${origin}/${heads}x${seqQ}x${seqKv}-d${headDim}${causal ? '-causal' : ''}`,
    op: 'attention',
    title: text,
    unit: 'GFLOP/s',
    // Both products; the softmax between them is not counted, as is the custom.
    flops: 4 * heads * seen * headDim,
    bytes: 4 * 2 * (queries + keys),
    prepare() {
      const inputs = [noiseInput(queries, 5), noiseInput(keys, 6), noiseInput(keys, 7)];
      const values = inputs.map((input) => input.values);
      return {
        inputs,
        outputLength: queries,
        outputDtype: 'f32',
        plan: { op: 'attention', call: shape },
        call: (backend, operand, o) => backend.attention({ ...shape, q: operand(0), k: operand(1), v: operand(2), o }),
        expected: (index) => entryOf(shape, values, index),
      };
    },
  };
}

/** One entry of the output: the oracle on one query and the keys that it sees. */
function entryOf(shape: AttentionShape, values: readonly Float32Array[], index: number): ExpectedEntry {
  const { seqQ, seqKv, headDim, causal = false, scale } = shape;
  const [q, k, v] = values as [Float32Array, Float32Array, Float32Array];
  const row = Math.floor(index / headDim);
  const head = Math.floor(row / seqQ);
  const visible = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
  const start = head * seqKv * headDim;
  const one = { batch: 1, heads: 1, seqQ: 1, seqKv: visible, headDim, scale };
  const { value } = attentionReference(one, q.subarray(row * headDim), k.subarray(start), v.subarray(start));
  // A mean of numbers in [-1, 1) with weights that add up to 1.
  return { want: value[index % headDim] as number, tolerance: 2e-5 };
}
