import { describe, expect, it } from 'vitest';
import { attention } from './attention.ts';

const noise = (length: number, seed: number, size = 1): Float32Array =>
  Float32Array.from({ length }, (_, i) => size * Math.sin((i + 1) * 12.9898 + seed * 78.233));

interface Shape {
  batch?: number;
  heads?: number;
  seqQ: number;
  seqKv: number;
  headDim: number;
  causal?: boolean;
  size?: number;
  change?: (q: Float32Array, k: Float32Array, v: Float32Array) => void;
}

function check({ batch = 1, heads = 1, seqQ, seqKv, headDim, causal = false, size = 1, change }: Shape): void {
  const q = noise(batch * heads * seqQ * headDim, 1, size);
  const k = noise(batch * heads * seqKv * headDim, 2, size);
  const v = noise(batch * heads * seqKv * headDim, 3);
  change?.(q, k, v);
  const scale = Math.fround(1 / Math.sqrt(headDim));
  const o = new Float32Array(q.length).fill(-1);
  const queries = [heads * seqQ * headDim, seqQ * headDim, headDim] as const;
  const keys = [heads * seqKv * headDim, seqKv * headDim, headDim] as const;
  const strides = { qStrides: queries, kStrides: keys, vStrides: keys, oStrides: queries, maskStrides: undefined };
  const fields = { kvHeads: heads, softcap: 0, causalOffset: 0, window: Infinity, dtype: 'f32', operands: [] } as const;
  attention({ batch, heads, seqQ, seqKv, headDim, scale, causal, ...strides, ...fields }, { q, k, v, o });
  for (let row = 0; row < batch * heads * seqQ; row++) {
    const base = Math.floor(row / seqQ) * seqKv;
    const keys = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
    const scores = Array.from({ length: keys }, (_, j) => {
      let dot = 0;
      for (let d = 0; d < headDim; d++)
        dot += (q[row * headDim + d] as number) * (k[(base + j) * headDim + d] as number);
      return dot * scale;
    });
    const largest = Math.max(...scores);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((x, y) => x + y, 0);
    for (let d = 0; d < headDim; d++) {
      let want = 0;
      for (let j = 0; j < keys; j++) want += ((weights[j] as number) / total) * (v[(base + j) * headDim + d] as number);
      const got = o[row * headDim + d] as number;
      if (Number.isFinite(want)) expect(Math.abs(got - want)).toBeLessThan(1e-7);
      else expect(got).toBe(want);
    }
  }
}

describe('attention', () => {
  it('agrees with whole rows of scores', () => {
    for (const causal of [false, true]) {
      check({ seqQ: 1, seqKv: 1, headDim: 1, causal });
      check({ batch: 2, heads: 3, seqQ: 5, seqKv: 7, headDim: 3, causal });
      check({ seqQ: 7, seqKv: 5, headDim: 4, causal, size: 20 });
      check({ heads: 2, seqQ: 200, seqKv: 260, headDim: 9, causal, size: 3 });
      check({ seqQ: 260, seqKv: 129, headDim: 2, causal });
    }
  });

  it('crosses the block boundaries of the head dimension', () => {
    for (const headDim of [255, 257, 600]) check({ seqQ: 4, seqKv: 130, headDim, causal: headDim === 257 });
  });

  it('carries infinities and NaN as the formula does, hidden ones not at all', () => {
    for (const causal of [false, true]) {
      const shape = { seqQ: 150, seqKv: 150, headDim: 2, causal };
      check({ ...shape, change: (_q, _k, v) => v.set([Infinity, NaN], 2 * 100) });
      check({ ...shape, change: (_q, k) => k.fill(NaN, 2 * 140, 2 * 141) });
      check({ ...shape, change: (q) => q.fill(NaN, 4, 5) });
    }
    // Scores of -Infinity in the whole first tile, finite ones after it; and nowhere a finite one.
    const minusInfinity = (count: number) => (q: Float32Array, k: Float32Array) => {
      q.fill(1);
      k.fill(-Infinity, 0, count);
    };
    check({ seqQ: 3, seqKv: 150, headDim: 1, change: minusInfinity(140) });
    check({ seqQ: 3, seqKv: 150, headDim: 1, change: minusInfinity(150) });
  });
});
