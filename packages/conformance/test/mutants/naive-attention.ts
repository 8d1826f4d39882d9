import { f16BitsToF32, f32ToF16Bits, fromBf16Array } from '@concord/backend-core';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import { floats, inKernel, storage, type Wrap } from './mutant.ts';

export type { Wrap } from './mutant.ts';

/** A checked attention as the CPU backend's kernel gets it. */
export type Call = ResolvedAttention<ArrayBuffer>;

/** Replaceable parts of attention by rows. */
export interface Parts {
  /** Query i sees the keys from the first to before the second. */
  readonly visible?: (i: number, call: Call) => readonly [first: number, end: number];
  /** Which head of K and V belongs to head `head` of Q, both of `batch`. */
  readonly keyHead?: (head: number, batch: number, call: Call) => readonly [head: number, batch: number];
  readonly score?: (dot: number, call: Call) => number;
  /** The mask for a score. */
  readonly mask?: (at: MaskPlace, call: Call) => number;
  /** A score after `mask` was added to it. */
  readonly finish?: (score: number, added: number, call: Call) => number;
  /** The number that is subtracted from the scores. */
  readonly largest?: (scores: readonly number[]) => number;
  readonly weight?: (weight: number) => number;
  readonly total?: (total: number) => number;
  readonly element?: (x: number) => number;
  readonly valueElement?: (x: number) => number;
  /** Terms of Q K^T that are added. */
  readonly depth?: (headDim: number) => number;
  /** Adds to the output the keys that the mask hides, with weight 0. */
  readonly touchesHidden?: boolean;
  /** A row without a key. */
  readonly blind?: number;
  /** The logarithm of the sum of exp(score); `top` is what was subtracted from the scores. */
  readonly lse?: (top: number, sum: number, row: { readonly isBlind: boolean; readonly largest: number }) => number;
  /** Where that of a row is stored. */
  readonly lseAt?: (
    at: { readonly batch: number; readonly head: number; readonly query: number },
    call: Call,
  ) => number;
  /** Rounds an element of an f16 output. */
  readonly toHalf?: (value: number) => number;
}

/** Of a score. */
export interface MaskPlace {
  readonly batch: number;
  readonly head: number;
  readonly query: number;
  readonly key: number;
}

const same = (x: number): number => x;
/** The keys that a query sees. */
export const maskOf = (i: number, { causal, causalOffset, window, seqKv }: Call): [number, number] => {
  const first = Math.min(seqKv, Math.max(0, i + causalOffset - window + 1));
  return [first, Math.max(first, causal ? Math.min(i + causalOffset + 1, seqKv) : seqKv)];
};
/** The largest score. */
export const maximum = (scores: readonly number[]): number => scores.reduce((x, y) => Math.max(x, y), -Infinity);
/** A score by `softcap`. */
export const capped = (x: number, { softcap }: Call): number => (softcap > 0 ? softcap * Math.tanh(x / softcap) : x);
/** A dot product by scale and `softcap`. */
export const scoreOf = (dot: number, call: Call): number => capped(Math.fround(dot) * call.scale, call);
/** The head of K and V that belongs to one of Q. */
export const ownKeys = (head: number, batch: number, { heads, kvHeads }: Call): [number, number] => [
  Math.floor((head * kvHeads) / heads),
  batch,
];

const placeOf = ({ batch, head, query, key }: MaskPlace, { maskStrides }: Call): number => {
  const [b = 0, h = 0, q = 0, k = 0] = maskStrides ?? [];
  return batch * b + head * h + query * q + key * k;
};

/** The byte of a mask of bytes. */
export const byteOf = (at: MaskPlace, call: Call): number => {
  const { buffer, byteOffset } = call.mask as NonNullable<Call['mask']>;
  return new Uint8Array(buffer, byteOffset)[placeOf(at, call)] as number;
};

/** The mask for a score; 0 without one. */
export function maskAt(at: MaskPlace, call: Call): number {
  const { mask, maskDtype } = call;
  if (mask === undefined) return 0;
  if (maskDtype === 'u8') return byteOf(at, call) === 0 ? -Infinity : 0;
  const stored = storage(mask, maskDtype)[placeOf(at, call)] as number;
  return maskDtype === 'f16' ? f16BitsToF32(stored) : stored;
}

const packedRow: NonNullable<Parts['lseAt']> = ({ batch, head, query }, { heads, seqQ }) =>
  (batch * heads + head) * seqQ + query;

function naiveAttention(call: Call, parts: Parts): void {
  const {
    visible = maskOf,
    keyHead = ownKeys,
    score = scoreOf,
    largest = maximum,
    mask = maskAt,
    finish = same,
  } = parts;
  const { weight = same, total = same, element = same, valueElement = same, depth = same, blind = 0 } = parts;
  const { batch, heads, seqQ, seqKv, headDim, valueDim, qStrides, kStrides, vStrides, oStrides, dtype, dtypeKv } = call;
  const read = (name: 'q' | 'k' | 'v') => {
    const of = name === 'q' ? dtype : dtypeKv;
    const elements = of === 'bf16' ? storage(call[name], 'f16') : storage(call[name], of);
    return (at: number): number => {
      const bits = elements[at] as number;
      return of === 'f16'
        ? f16BitsToF32(bits)
        : of === 'bf16'
          ? (fromBf16Array(Uint16Array.of(bits))[0] as number)
          : bits;
    };
  };
  const [q, k, v, o] = [read('q'), read('k'), read('v'), storage(call.o, dtype)];
  const { toHalf = f32ToF16Bits, lseAt = packedRow } = parts;
  for (let row = 0; row < batch * heads * seqQ; row++) {
    const query = row % seqQ;
    const head = Math.floor(row / seqQ) % heads;
    const b = Math.floor(row / seqQ / heads);
    const [kvHead, kvBatch] = keyHead(head, b, call);
    const at = ([x, y, z]: Call['qStrides'], which: number, h: number, i: number): number => which * x + h * y + i * z;
    const [first, end] = visible(query, call);
    const scores = Array.from({ length: end - first }, (_, n) => {
      let dot = 0;
      const [from, to] = [at(qStrides, b, head, query), at(kStrides, kvBatch, kvHead, first + n)];
      for (let d = 0; d < depth(headDim); d++) dot += element(q(from + d)) * element(k(to + d));
      const added = mask({ batch: b, head, query, key: first + n }, call);
      return finish(score(dot, call) + added, added, call);
    });
    const top = largest(scores);
    const weights = scores.map((x) => weight(Math.exp(x - top)));
    const sum = total(weights.reduce((x, y) => x + y, 0));
    const isBlind = end <= first || (call.mask !== undefined && maximum(scores) === -Infinity);
    if (call.lse !== undefined) {
      const largest = maximum(scores);
      const log = isBlind || largest === -Infinity ? -Infinity : top + Math.log(sum);
      const place = lseAt({ batch: b, head, query }, call);
      floats(call.lse)[place] = parts.lse?.(top, sum, { isBlind, largest }) ?? log;
    }
    const touched = parts.touchesHidden === true ? [0, seqKv] : [first, end];
    for (let d = 0; d < valueDim; d++) {
      let value = 0;
      for (let j = touched[0] as number; j < (touched[1] as number); j++) {
        value += (weights[j - first] ?? 0) * valueElement(v(at(vStrides, kvBatch, kvHead, j) + d));
      }
      const result = isBlind ? blind : value / sum;
      o[at(oStrides, b, head, query) + d] = dtype === 'f16' ? toHalf(result) : result;
    }
  }
}

/** Attention by rows, some part of it wrong. */
export const rows = (parts: Parts): Wrap => inKernel('attention', (call) => naiveAttention(call, parts));
/** The right kernel, called wrongly. */
export const called = (change: (call: Call) => Partial<Call>): Wrap =>
  inKernel('attention', (call, run) => run({ ...call, ...change(call) }));
/** The right kernel, and something done after it. */
export const followed = (tamper: (call: Call, before: Float32Array) => void): Wrap =>
  inKernel('attention', (call, run) => {
    const before = call.dtype === 'f32' ? floats(call.o).slice() : new Float32Array();
    run(call);
    tamper(call, before);
  });
/** The first keys of a range, up to a number of the head's. */
export const firstOf = (max: number, [first, end]: readonly [number, number]): [number, number] => [
  first,
  Math.max(first, Math.min(max, end)),
];
/** Returns whether O is packed float32. */
export const isPlain = ({ dtype, oStrides, valueDim }: Call): boolean => dtype === 'f32' && oStrides[2] === valueDim;
