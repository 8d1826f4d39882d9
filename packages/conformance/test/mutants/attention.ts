import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { mutantsOf, bytesBehind, floats, type Mutant, roundMantissa, storage } from './mutant.ts';
import {
  type Call,
  called,
  capped,
  firstOf,
  followed,
  isPlain,
  maskOf,
  maximum,
  ownKeys,
  rows,
  scoreOf,
  type Wrap,
} from './naive-attention.ts';

/** Copies the rows that `where` chooses back to what they held before. */
const lost = (where: (row: number, call: Call) => boolean): Wrap =>
  followed((call, before) => {
    const { valueDim } = call;
    if (!isPlain(call)) return;
    for (let row = 0; row * valueDim < before.length; row++) {
      const at = row * valueDim;
      if (where(row, call)) floats(call.o).set(before.subarray(at, at + valueDim), at);
    }
  });

let calls = 0;

const BUGS: Readonly<Record<string, Wrap>> = {
  'causal sees one key too many': rows({
    visible: (i, c) => [
      maskOf(i, c)[0],
      c.causal ? Math.max(maskOf(i, c)[0], Math.min(i + c.causalOffset + 2, c.seqKv)) : c.seqKv,
    ],
  }),
  'causal sees one key too few': rows({
    visible: (i, c) => [maskOf(i, c)[0], Math.max(maskOf(i, c)[0], maskOf(i, c)[1] - (c.causal && i > 0 ? 1 : 0))],
  }),
  'causal ignored': called(() => ({ causal: false })),
  'causal always': called(() => ({ causal: true })),
  'causal aligned at the last key': rows({
    visible: (i, c) => maskOf(i, { ...c, causalOffset: c.causalOffset + c.seqKv - c.seqQ }),
  }),
  'hidden keys multiplied by 0': rows({ touchesHidden: true }),
  'scale ignored': called(() => ({ scale: 1 })),
  'scale always 1 / sqrt(headDim)': called(({ headDim }) => ({ scale: 1 / Math.sqrt(headDim) })),
  'scale multiplied to the terms': rows({ score: (dot, call) => capped(dot * call.scale, call) }),
  'scale applied twice': called(({ scale }) => ({ scale: scale * scale })),
  'scale 1 / sqrt(seqKv)': called(({ scale, headDim, seqKv }) => ({
    scale: (scale * Math.sqrt(headDim)) / Math.sqrt(seqKv),
  })),
  'batch and heads mixed up': rows({
    keyHead: (head, batch, call) => {
      if (call.kvHeads < call.heads) return ownKeys(head, batch, call);
      const mixed = head * call.batch + batch;
      return [mixed % call.heads, Math.floor(mixed / call.heads)];
    },
  }),
  'all heads share the first keys': rows({ keyHead: (_head, batch) => [0, batch] }),
  'all batches share the first keys': rows({ keyHead: (head, batch, call) => [ownKeys(head, batch, call)[0], 0] }),
  'softmax without its maximum': rows({
    largest: () => 0,
    weight: Math.fround,
    total: Math.fround,
  }),
  'the maximum starts at 0': rows({ largest: (scores) => Math.max(0, maximum(scores)), weight: Math.fround }),
  'not normalised': rows({ total: () => 1 }),
  'the last key dropped': rows({
    visible: (i, call) => {
      const [first, end] = maskOf(i, call);
      return [first, call.causal || end - first < 2 ? end : end - 1];
    },
  }),
  'keys from the 1,024th on dropped': rows({ visible: (i, call) => firstOf(1024, maskOf(i, call)) }),
  'keys from the 2,049th on dropped': rows({ visible: (i, call) => firstOf(2048, maskOf(i, call)) }),
  'the last key lost when it is the first of a tile': rows({
    visible: (i, call) => {
      const [first, end] = maskOf(i, call);
      return [first, end > first + 64 && end % 64 === 1 ? end - 1 : end];
    },
  }),
  'the sum not rescaled when the maximum grows': rows({
    // Tiles of 16 keys; the weights of the first keep the maximum that they were made with.
    largest: (scores) => maximum(scores.length > 16 ? scores.slice(0, 16) : scores),
    weight: (x) => (x > 1 ? 1 : x),
  }),
  'headDim rounded down to a multiple of 4': rows({ depth: (d) => (d < 4 ? d : d - (d % 4)) }),
  'headDim beyond 128 dropped': rows({ depth: (d) => Math.min(d, 128) }),
  'K used for V': called(({ k }) => ({ v: k })),
  'Q and K swapped for a square': called(({ q, k, seqQ, seqKv }) => (seqQ === seqKv ? { q: k, k: q } : {})),
  'Q and K rounded to bf16': rows({ element: roundMantissa(7) }),
  'V rounded to tf32': rows({ valueElement: roundMantissa(10) }),
  'weights rounded to f16': rows({ weight: (x) => f16BitsToF32(f32ToF16Bits(x)) }),
  'a NaN score counts as -Infinity': rows({
    score: (dot, call) => (Number.isNaN(dot) ? -Infinity : scoreOf(dot, call)),
  }),
  'a NaN in V counts as 0': rows({ valueElement: (x) => (Number.isNaN(x) ? 0 : x) }),
  'an infinity in V counts as the largest number': rows({
    valueElement: (x) => (Number.isNaN(x) ? x : Math.max(-3e38, Math.min(3e38, x))),
  }),
  'queries from the 401st on lost': lost((row, { seqQ }) => row % seqQ >= 400),
  'the last query lost when it is the first of a tile': lost(
    (row, { seqQ }) => seqQ > 16 && seqQ % 16 === 1 && row % seqQ === seqQ - 1,
  ),
  'heads from the 65,536th on dropped': lost((row, { seqQ }) => Math.floor(row / seqQ) >= 65_535),
  'written past the end': followed(({ o }) => bytesBehind(o).fill(0, 0, 4)),
  'Q overwritten with scaled Q': followed(({ q, scale, dtype }) => {
    if (dtype !== 'f32') return;
    const values = floats(q);
    for (let i = 0; i < values.length; i++) (values[i] as number) *= scale;
  }),
  'K used as scratch': followed(({ k, dtype }) => storage(k, dtype).fill(0, -1)),
  'not deterministic': followed(({ o, dtype }) => {
    if (dtype !== 'f32') return;
    const values = floats(o);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (const i of values.keys()) if (calls % 2 === 1) (bits[i] as number) ^= 1;
    calls++;
  }),
};

/** Bugs of attention. */
export const attentionMutants: readonly Mutant[] = mutantsOf('attention:', ['attention'], BUGS);
