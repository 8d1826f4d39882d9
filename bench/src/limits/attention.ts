import type { ComputeBackend } from '@concord/backend-core';
import type { Expected, LimitCase, Trial } from './limit-case.ts';
import { Workspace } from './workspace.ts';

/** Sizes of an attention. */
export interface AttentionSizes {
  readonly batch: number;
  readonly heads: number;
  readonly seqQ: number;
  readonly seqKv: number;
  readonly headDim: number;
  readonly causal: boolean;
}

/** `softmax(Q K^T / sqrt(headDim)) V`. The causal one counts half of the work, as if it left out what is masked. */
export function attention({ batch, heads, seqQ, seqKv, headDim, causal }: AttentionSizes): LimitCase {
  const place = (backend: ComputeBackend): Trial => {
    const workspace = new Workspace(backend);
    const q = workspace.input(batch * heads * seqQ * headDim, 1);
    const k = workspace.input(batch * heads * seqKv * headDim, 2);
    const v = workspace.input(batch * heads * seqKv * headDim, 3);
    const output = workspace.output(batch * heads * seqQ * headDim);
    const scale = 1 / Math.sqrt(headDim);
    const pointers = { q: q.ptr, k: k.ptr, v: v.ptr, o: output };
    const call = { ...pointers, batch, heads, seqQ, seqKv, headDim, scale, causal };
    const expected = (index: number): Expected => {
      const row = Math.floor(index / headDim);
      const firstKey = Math.floor(row / seqQ) * seqKv;
      const keys = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
      const scores = Array.from({ length: keys }, (_, key) => {
        let dot = 0;
        for (let d = 0; d < headDim; d++) dot += q.at(row * headDim + d) * k.at((firstKey + key) * headDim + d);
        return dot * scale;
      });
      const largest = scores.reduce((most, score) => Math.max(most, score));
      const weights = scores.map((score) => Math.exp(score - largest));
      const total = weights.reduce((sum, weight) => sum + weight);
      let value = 0;
      let magnitude = 0;
      for (const [key, weight] of weights.entries()) {
        const term = (weight / total) * v.at((firstKey + key) * headDim + (index % headDim));
        value += term;
        magnitude += Math.abs(term);
      }
      return { value, magnitude };
    };
    return {
      run: () => backend.attention(call),
      output,
      dtype: 'f32',
      length: batch * heads * seqQ * headDim,
      expected,
      free: () => workspace.free(),
    };
  };
  const name = `b${batch}h${heads}q${seqQ}k${seqKv}d${headDim}${causal ? 'c' : ''}`;
  return { op: 'attention', name, flops: (4 * batch * heads * seqQ * seqKv * headDim) / (causal ? 2 : 1), place };
}
