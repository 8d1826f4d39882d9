import type { AttentionShape } from '@concord/backend-core';
import { inRange, type Reference, type Values } from './result.ts';

/** The oracle's answer for attention, with what its error bound needs (`docs/numerics.md`). */
export interface AttentionReference extends Reference {
  /** Per query row: max over the visible keys of scale sum |q||k|. */
  readonly scoreMagnitude: Float64Array;
  /** Per output entry: sum p (3 + 2 |s - max s|) (|v| + |o|). */
  readonly spread: Float64Array;
}

/**
 * `softmax(scale Q K^T) V` in float64, row by row with the whole score row stored. A product of a row of Q and one of K that
 * is beyond the range of float32 is infinite before scale comes to it.
 *
 * @returns `[batch, heads, seqQ, headDim]`, packed; `magnitude` is sum p |v|
 */
export function attentionReference(shape: AttentionShape, q: Values, k: Values, v: Values): AttentionReference {
  const { batch, heads, seqQ, seqKv, headDim, causal = false } = shape;
  const scale = Math.fround(shape.scale);
  const rows = batch * heads * seqQ;
  const value = new Float64Array(rows * headDim);
  const magnitude = new Float64Array(rows * headDim);
  const spread = new Float64Array(rows * headDim);
  const scoreMagnitude = new Float64Array(rows);

  for (let row = 0; row < rows; row++) {
    const head = Math.floor(row / seqQ);
    const keys = causal ? Math.min(seqKv, (row % seqQ) + 1) : seqKv;
    const keyStart = head * seqKv * headDim;
    const scores = new Float64Array(keys);
    for (let j = 0; j < keys; j++) {
      let dot = 0;
      let absolute = 0;
      for (let d = 0; d < headDim; d++) {
        const product = (q[row * headDim + d] as number) * (k[keyStart + j * headDim + d] as number);
        dot += product;
        absolute += Math.abs(product);
      }
      scores[j] = scale * inRange(dot);
      // The weight of a score of -Infinity is 0 without an error.
      if (scores[j] !== -Infinity) scoreMagnitude[row] = Math.max(scoreMagnitude[row] as number, scale * absolute);
    }
    const largest = scores.reduce((x, y) => Math.max(x, y), -Infinity);
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((x, y) => x + y, 0);
    for (let d = 0; d < headDim; d++) {
      const at = row * headDim + d;
      let sum = 0;
      let absolute = 0;
      for (let j = 0; j < keys; j++) {
        const probability = (weights[j] as number) / total;
        const entry = v[keyStart + j * headDim + d] as number;
        sum += probability * entry;
        absolute += probability * Math.abs(entry);
      }
      let terms = 0;
      for (let j = 0; j < keys; j++) {
        const probability = (weights[j] as number) / total;
        const distance = Math.abs((scores[j] as number) - largest);
        const entry = v[keyStart + j * headDim + d] as number;
        if (probability !== 0) terms += probability * (3 + 2 * distance) * (Math.abs(entry) + Math.abs(sum));
      }
      value[at] = sum;
      magnitude[at] = absolute;
      spread[at] = terms;
    }
  }
  return { value, magnitude, scoreMagnitude, spread };
}
