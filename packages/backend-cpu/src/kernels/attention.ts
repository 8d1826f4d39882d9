import type { CheckedAttention } from '@concord/backend-core/implement';
import { put, type Storage } from './operands.ts';

/** The operands of an attention. */
export interface AttentionOperands {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  /** There where `maskStrides` is. */
  readonly mask?: Float32Array | undefined;
  /** There where `lengthStride` is. */
  readonly lengths?: Int32Array | undefined;
  /** There where `startStride` is. */
  readonly starts?: Int32Array | undefined;
  /** There where it is wanted. */
  readonly lse?: Float32Array | undefined;
  readonly o: Storage;
}

/**
 * `softmax(scale Q K^T) V` per batch and head, in float64, with the scores of one query at a time.
 */
export function attention(call: CheckedAttention, { q, k, v, mask, lengths, starts, lse, o }: AttentionOperands): void {
  const { batch, heads, kvHeads, seqQ, seqKv, headDim, valueDim, qStrides, kStrides, vStrides, oStrides, maskStrides } =
    call;
  const [maskBatch = 0, maskHead = 0, maskQuery = 0, maskKey = 0] = maskStrides ?? [];
  const scores = new Float64Array(seqKv);
  const sums = new Float64Array(valueDim);
  for (let b = 0; b < batch; b++) {
    const keys =
      lengths === undefined ? seqKv : Math.min(seqKv, (lengths[b * (call.lengthStride as number)] as number) >>> 0);
    const given = starts?.[b * (call.startStride ?? 0)];
    const start = given === undefined ? call.causalOffset + (lengths === undefined ? 0 : keys - seqQ) : limited(given);
    for (let h = 0; h < heads; h++) {
      const kvHead = Math.floor((h * kvHeads) / heads);
      const startK = b * kStrides[0] + kvHead * kStrides[1];
      const startV = b * vStrides[0] + kvHead * vStrides[1];
      for (let query = 0; query < seqQ; query++) {
        const [first, end] = visibleKeys(call, keys, start + query);
        const startQ = b * qStrides[0] + h * qStrides[1] + query * qStrides[2];
        const startMask = b * maskBatch + h * maskHead + query * maskQuery;
        let largest = -Infinity;
        for (let key = first; key < end; key++) {
          const from = startK + key * kStrides[2];
          let dot = 0;
          for (let d = 0; d < headDim; d++) dot += (q[startQ + d] as number) * (k[from + d] as number);
          const score = finishScore(call, dot) + (mask === undefined ? 0 : (mask[startMask + key * maskKey] as number));
          scores[key] = score;
          // Math.max, unlike a comparison, keeps NaN.
          largest = Math.max(largest, score);
        }
        // A query without a key gives 0: with a mask, one with scores of -Infinity alone.
        const isBlind = first >= end || (largest === -Infinity && mask !== undefined);
        let total = isBlind ? 1 : 0;
        sums.fill(0);
        for (let key = first; key < end && !isBlind; key++) {
          const weight = Math.exp((scores[key] as number) - largest);
          const from = startV + key * vStrides[2];
          for (let d = 0; d < valueDim; d++) sums[d] = (sums[d] as number) + weight * (v[from + d] as number);
          total += weight;
        }
        const log = largest === -Infinity ? -Infinity : largest + Math.log(total);
        if (lse !== undefined) lse[(b * heads + h) * seqQ + query] = log;
        const to = b * oStrides[0] + h * oStrides[1] + query * oStrides[2];
        for (let d = 0; d < valueDim; d++) put(o, to + d, (sums[d] as number) / total);
      }
    }
  }
}

const limited = (start: number): number => Math.max(-(2 ** 30), Math.min(2 ** 30, start));

/** The keys, of some, that a query at a place sees: from the first to before the second, as far as `causal` and `window` say. */
function visibleKeys(
  { causal, window }: CheckedAttention,
  keys: number,
  place: number,
): readonly [first: number, end: number] {
  return [Math.max(0, place - window + 1), causal ? Math.min(keys, place + 1) : keys];
}

/** Scores are float32 before they are scaled, so that one beyond its range is infinite. */
function finishScore({ scale, softcap }: CheckedAttention, dot: number): number {
  const score = Math.fround(dot) * scale;
  return softcap > 0 ? softcap * Math.tanh(score / softcap) : score;
}
