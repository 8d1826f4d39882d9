import type { AttentionWork } from '../work.ts';
import { defineCase, type LimitCase } from './limit-case.ts';

/** The causal one counts half of the work, as if it left out what is masked. */
export function attention(work: AttentionWork): LimitCase {
  const { batch, heads, seqQ, seqKv, headDim, causal } = work;
  const scale = 1 / Math.sqrt(headDim);
  const shape = { batch, heads, seqQ, seqKv, headDim, scale, causal };
  const [queries, keysAndValues] = [batch * heads * seqQ * headDim, batch * heads * seqKv * headDim];
  return defineCase({
    work,
    name: `b${batch}h${heads}q${seqQ}k${seqKv}d${headDim}${causal ? 'c' : ''}`,
    flops: (4 * batch * heads * seqQ * seqKv * headDim) / (causal ? 2 : 1),
    inputs: [queries, keysAndValues, keysAndValues],
    length: queries,
    expected: ([q, k, v], index) => {
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
    },
    call: (backend, [q, k, v], o) => backend.attention({ ...shape, q, k, v, o }),
  });
}
