import type { AttentionShape } from '@concord/backend-core';
import { attentionReference } from '@concord/backend-cpu/reference';
import type { BenchCase, ExpectedEntry } from '../bench-case.ts';
import { elements, type Operand, operand } from '../operand.ts';

/** The sizes of an attention case. Default for `batch`: 1. */
export type AttentionSizes = Pick<AttentionShape, 'heads' | 'seqQ' | 'seqKv' | 'headDim' | 'causal'> & {
  readonly batch?: number;
};

/** Attention of all heads of one layer. */
export function attentionCase(origin: string, text: string, sizes: AttentionSizes): BenchCase {
  const { batch = 1, heads, seqQ, seqKv, headDim, causal = false } = sizes;
  const shape: AttentionShape = { ...sizes, batch, scale: 1 / Math.sqrt(headDim) };
  const [queries, keys] = [batch * heads * seqQ * headDim, batch * heads * seqKv * headDim];
  const seen = causal ? (seqQ * (seqQ + 1)) / 2 : seqQ * seqKv;
  return {
    id: `attention/${origin}/${batch > 1 ? `${batch}x` : ''}${heads}x${seqQ}x${seqKv}-d${headDim}${causal ? '-causal' : ''}`,
    op: 'attention',
    title: text,
    unit: 'GFLOP/s',
    // Both products; the softmax between them is not counted, as is the custom.
    flops: 4 * batch * heads * seen * headDim,
    bytes: 4 * 2 * (queries + keys),
    prepare() {
      const inputs = [operand(queries, 1), operand(keys, 2), operand(keys, 3)];
      return {
        inputs,
        outputLength: queries,
        outputDtype: 'f32',
        plan: { op: 'attention', call: shape },
        call: (backend, at, o) => backend.attention({ ...shape, q: at(0), k: at(1), v: at(2), o }),
        expected: (index) => entryOf(shape, inputs, index),
      };
    },
  };
}

/** One entry of the output: the oracle on one query and the keys that it sees. */
function entryOf(shape: AttentionShape, inputs: readonly Operand[], index: number): ExpectedEntry {
  const { seqQ, seqKv, headDim, causal = false, scale } = shape;
  const [q, k, v] = inputs as [Operand, Operand, Operand];
  const row = Math.floor(index / headDim);
  const head = Math.floor(row / seqQ);
  const visible = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
  const start = head * seqKv * headDim;
  const one = { batch: 1, heads: 1, seqQ: 1, seqKv: visible, headDim, scale };
  const [keys, values] = [k, v].map((each) => elements(each, start, visible * headDim)) as [Float32Array, Float32Array];
  const { value } = attentionReference(one, elements(q, row * headDim, headDim), keys, values);
  // A mean of numbers in [-1, 1) with weights that add up to 1.
  return { want: value[index % headDim] as number, tolerance: 2e-5 };
}
