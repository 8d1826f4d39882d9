import type { AttentionShape, HeadStrides, AttentionViews } from '@concord/backend-core';
import { inRange, type Reference, type Values } from './result.ts';

/** The oracle's answer for attention, with what its error bound needs (`docs/numerics.md`). */
export interface AttentionReference extends Reference {
  /** The max over the visible keys of scale sum |q||k|, per query row. */
  readonly scoreMagnitude: Float64Array;
  /** The sum p (3 + 2 |s - max s|) (|v| + |o|), per output entry. */
  readonly spread: Float64Array;
  /** The sum p expm1(2 e) (|v| + |o|), per output entry, e the error of a score by softcap and mask. */
  readonly scoreSpread: Float64Array;
  /** The log of the sum of exp(score), per query row; -Infinity without a key. */
  readonly lse: Float64Array;
  /** The largest score, per query row. */
  readonly largest: Float64Array;
  /** The sums p (3 + 2 |s - max s|) and p expm1(e), per query row. */
  readonly weightSpread: Float64Array;
  readonly scoreError: Float64Array;
}

/** `2^-23`, the u of `docs/numerics.md`. */
const U = 2 ** -23;
const MIN_NORMAL = 2 ** -126;

/**
 * Attention in float64, row by row with the whole score row stored. A product of a row of Q and one of K that is beyond the
 * range of float32 is infinite before scale comes to it.
 *
 * @param mask - values with the strides of `shape.mask`; not read without it
 * @param places - values with the strides of `shape.lengths` and `shape.starts`; not read without those
 * @returns `[batch, heads, seqQ, valueDim]`, packed; `magnitude` is sum p |v|
 */
export function attentionReference(
  shape: AttentionShape & AttentionViews,
  q: Values,
  k: Values,
  v: Values,
  mask?: Values,
  { lengths, starts }: { readonly lengths?: Values | undefined; readonly starts?: Values | undefined } = {},
): AttentionReference {
  const { batch, heads, seqQ, seqKv, headDim, valueDim = headDim, kvHeads = heads } = shape;
  const packed = (count: number, length: number, width: number): HeadStrides => [
    count * length * width,
    length * width,
    width,
  ];
  const strides = {
    q: shape.strides?.q ?? packed(heads, seqQ, headDim),
    k: shape.strides?.k ?? packed(kvHeads, seqKv, headDim),
    v: shape.strides?.v ?? packed(kvHeads, seqKv, valueDim),
    mask: shape.mask?.strides ?? [heads * seqQ * seqKv, seqQ * seqKv, seqKv, 1],
  };
  const [maskBatch, maskHead, maskQuery, maskKey] = strides.mask as [number, number, number, number];
  const rows = batch * heads * seqQ;
  const value = new Float64Array(rows * valueDim);
  const magnitude = new Float64Array(rows * valueDim);
  const spread = new Float64Array(rows * valueDim);
  const scoreSpread = new Float64Array(rows * valueDim);
  const scoreMagnitude = new Float64Array(rows);
  const lse = new Float64Array(rows).fill(-Infinity);
  const largestScore = new Float64Array(rows).fill(-Infinity);
  const weightSpread = new Float64Array(rows);
  const scoreError = new Float64Array(rows);

  for (let row = 0; row < rows; row++) {
    const query = row % seqQ;
    const head = Math.floor(row / seqQ) % heads;
    const b = Math.floor(row / seqQ / heads);
    const kvHead = Math.floor((head * kvHeads) / heads);
    const queryAt = at(strides.q, b, head, query);
    const placed: PlacedBatch = {
      ...shape,
      length: shape.lengths === undefined ? seqKv : (lengths?.[b * (shape.lengths.strides?.[0] ?? 1)] as number),
      start: shape.starts === undefined ? undefined : starts?.[b * (shape.starts.strides?.[0] ?? 1)],
    };
    const [first, end] = visibleKeys(placed, query);
    const scores = new Float64Array(end - first);
    const errors = new Float64Array(end - first);
    for (const j of scores.keys()) {
      const keyAt = at(strides.k, b, kvHead, first + j);
      let dot = 0;
      let absolute = 0;
      for (let d = 0; d < headDim; d++) {
        const product = (q[queryAt + d] as number) * (k[keyAt + d] as number);
        dot += product;
        absolute += Math.abs(product);
      }
      const maskAt = b * maskBatch + head * maskHead + query * maskQuery + (first + j) * maskKey;
      const given = shape.mask === undefined ? undefined : (mask?.[maskAt] as number);
      const added = shape.mask?.dtype === 'u8' ? (given === 0 ? -Infinity : 0) : given;
      [scores[j], errors[j]] = finishScore(shape, Math.fround(shape.scale) * inRange(dot), added);
      // The weight of a score of -Infinity is 0 without an error.
      if (scores[j] !== -Infinity) {
        scoreMagnitude[row] = Math.max(scoreMagnitude[row] as number, Math.fround(shape.scale) * absolute);
      }
    }
    const largest = scores.reduce((x, y) => Math.max(x, y), -Infinity);
    if (end === first || (shape.mask !== undefined && largest === -Infinity)) continue;
    const weights = scores.map((score) => Math.exp(score - largest));
    const total = weights.reduce((x, y) => x + y, 0);
    largestScore[row] = largest;
    // Scores of -Infinity alone, which have no softmax, have that sum.
    lse[row] = largest === -Infinity ? -Infinity : largest + Math.log(total);
    for (const [j, weight] of weights.entries()) {
      if (weight === 0) continue;
      const probability = weight / total;
      (weightSpread[row] as number) += probability * (3 + 2 * Math.abs((scores[j] as number) - largest));
      (scoreError[row] as number) += probability * Math.expm1(errors[j] as number);
    }
    for (let d = 0; d < valueDim; d++) {
      const entries = Float64Array.from(weights, (_, j) => v[at(strides.v, b, kvHead, first + j) + d] as number);
      let sum = 0;
      let absolute = 0;
      for (const [j, entry] of entries.entries()) {
        const probability = (weights[j] as number) / total;
        sum += probability * entry;
        absolute += probability * Math.abs(entry);
      }
      let terms = 0;
      let scoreTerms = 0;
      for (const [j, entry] of entries.entries()) {
        const probability = (weights[j] as number) / total;
        const distance = (scores[j] as number) - largest;
        const reach = Math.abs(entry) + Math.abs(sum);
        if (probability !== 0) terms += probability * (3 + 2 * Math.abs(distance)) * reach;
        const mostWeight = Math.exp(distance + 2 * (errors[j] as number));
        if (mostWeight !== weights[j]) scoreTerms += ((mostWeight - (weights[j] as number)) / total) * reach;
      }
      value[row * valueDim + d] = sum;
      magnitude[row * valueDim + d] = absolute;
      spread[row * valueDim + d] = terms;
      scoreSpread[row * valueDim + d] = scoreTerms;
    }
  }
  const rowTerms = { lse, largest: largestScore, weightSpread, scoreError };
  return { value, magnitude, scoreMagnitude, spread, scoreSpread, ...rowTerms };
}

function at([batchStride, headStride, rowStride]: HeadStrides, batch: number, head: number, row: number): number {
  return batch * batchStride + head * headStride + row * rowStride;
}

/** A batch of an attention with its own length and start. */
export interface PlacedBatch extends AttentionShape, AttentionViews {
  readonly length: number;
  readonly start: number | undefined;
}

/** The keys from the first to before the second are what there is, and what `causal` and `window` leave to a query. */
export function visibleKeys(shape: PlacedBatch, query: number): readonly [first: number, end: number] {
  const { seqQ, causal = false, causalOffset = 0, window = Infinity } = shape;
  const keys = Math.min(shape.seqKv, shape.length);
  const before = shape.start ?? (shape.lengths === undefined ? 0 : keys - seqQ);
  const place = Math.max(-(2 ** 30), Math.min(2 ** 30, before)) + causalOffset + query;
  const first = Math.min(keys, Math.max(0, place - window + 1));
  const end = causal ? Math.min(keys, place + 1) : keys;
  return [first, Math.max(first, end)];
}

/** A scaled score by softcap and mask, and the error that a device may make there. */
function finishScore(shape: AttentionShape, scaled: number, mask: number | undefined): [score: number, error: number] {
  const softcap = Math.fround(shape.softcap ?? 0);
  let score = scaled;
  let error = 0;
  if (softcap > 0) {
    score = softcap * Math.tanh(scaled / softcap);
    // A division, a tanh and a product: 3, 8 and 1 ulp; and what they may flush.
    error = 12 * U * Math.abs(score) + 2 * softcap * MIN_NORMAL;
  }
  if (mask !== undefined) {
    score += mask;
    error += U * Math.abs(score);
  }
  return [score, Math.abs(score) < Infinity ? error : 0];
}
