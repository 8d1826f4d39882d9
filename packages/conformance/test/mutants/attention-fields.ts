import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { bytesBehind, inKernel, mutantsOf, type Mutant, roundMantissa } from './mutant.ts';
import {
  byteOf,
  called,
  capped,
  followed,
  maskAt,
  maskOf,
  ownKeys,
  rows,
  scoreOf,
  type Wrap,
} from './naive-attention.ts';

const BUGS: Readonly<Record<string, Wrap>> = {
  'causalOffset ignored': called(() => ({ causalOffset: 0 })),
  'causalOffset one too many': called(({ causalOffset }) => ({
    causalOffset: causalOffset === 0 ? 0 : causalOffset + 1,
  })),
  'causalOffset one too few': called(({ causalOffset }) => ({
    causalOffset: causalOffset === 0 ? 0 : causalOffset - 1,
  })),
  'a negative causalOffset counts as 0': called(({ causalOffset }) => ({ causalOffset: Math.max(0, causalOffset) })),
  'causalOffset without the window': rows({
    visible: (i, c) => {
      const [, end] = maskOf(i, c);
      const [first] = maskOf(i, { ...c, causalOffset: 0 });
      return [Math.min(first, end), end];
    },
  }),
  'window ignored': called(() => ({ window: Infinity })),
  'window one key too wide': called(({ window }) => ({ window: window + 1 })),
  'window one key too narrow': called(({ window }) => ({ window: Math.max(1, window - 1) })),
  'window hides also after the query': called(({ causal, window }) => ({ causal: causal || window < Infinity })),
  'window by blocks of 64 keys': rows({
    visible: (i, c) => {
      const [first, end] = maskOf(i, c);
      return [first - (first % 64), end];
    },
  }),
  'mask ignored': rows({ mask: () => 0 }),
  'mask added before the softcap': rows({
    score: (dot, call) => Math.fround(dot) * call.scale,
    finish: (score, _, call) => capped(score, call),
  }),
  'mask multiplied by scale': rows({ mask: (at, call) => maskAt(at, call) * call.scale }),
  'mask of bytes added': rows({ mask: (at, call) => (call.maskDtype === 'u8' ? byteOf(at, call) : maskAt(at, call)) }),
  'mask of bytes the wrong way round': rows({
    mask: (at, call) => (call.maskDtype === 'u8' ? (byteOf(at, call) === 0 ? 0 : -Infinity) : maskAt(at, call)),
  }),
  'mask of bytes seen by their lowest bit': rows({
    mask: (at, call) => (call.maskDtype === 'u8' && byteOf(at, call) % 2 === 0 ? -Infinity : maskAt(at, call)),
  }),
  'mask of bytes hides NaN': rows({
    finish: (score, added, { maskDtype }) => (maskDtype === 'u8' && added === -Infinity ? -Infinity : score),
  }),
  'mask of f16 read as integers': rows({
    mask: (at, call) => (call.maskDtype === 'f16' ? f32ToF16Bits(maskAt(at, call)) : maskAt(at, call)),
  }),
  'mask added twice': rows({ mask: (at, call) => 2 * maskAt(at, call) }),
  'mask hides at -Infinity only': rows({ mask: (at, call) => (maskAt(at, call) === -Infinity ? -Infinity : 0) }),
  'a masked key keeps a weight': rows({ mask: (at, call) => Math.max(-5, maskAt(at, call)) }),
  'a mask of -Infinity hides NaN': rows({ finish: (score, added) => (added === -Infinity ? -Infinity : score) }),
  ...Object.fromEntries(
    (['batch', 'head', 'query', 'key'] as const).flatMap((axis) => [
      [`mask of ${axis} 0 for all`, rows({ mask: (at, call) => maskAt({ ...at, [axis]: 0 }, call) })],
      [
        `mask of stride 0 along ${axis} taken for packed`,
        called(({ maskStrides, seqKv, mask }) => {
          const index = ['batch', 'head', 'query', 'key'].indexOf(axis);
          const isRepeated = maskStrides?.[index] === 0 && (mask?.byteLength ?? 0) >= 8 * seqKv;
          return isRepeated ? { maskStrides: maskStrides?.map((stride, i) => (i === index ? 1 : stride)) } : {};
        }),
      ],
    ]),
  ),
  'a row without a key is NaN': rows({ blind: Number.NaN }),
  'a row without a key averages V': rows({ blind: 0.25 }),
  'softcap ignored': called(() => ({ softcap: 0 })),
  'softcap without its factor': rows({
    score: (dot, call) =>
      call.softcap > 0 ? Math.tanh((Math.fround(dot) * call.scale) / call.softcap) : scoreOf(dot, call),
  }),
  'softcap without its divisor': rows({
    score: (dot, call) =>
      call.softcap > 0 ? call.softcap * Math.tanh(Math.fround(dot) * call.scale) : scoreOf(dot, call),
  }),
  'softcap before the scale': rows({
    score: (dot, call) => (call.softcap > 0 ? capped(Math.fround(dot), call) * call.scale : scoreOf(dot, call)),
  }),
  'softcap clamps': rows({
    score: (dot, call) => {
      const x = Math.fround(dot) * call.scale;
      return call.softcap > 0 ? Math.max(-call.softcap, Math.min(call.softcap, x)) : x;
    },
  }),
  'grouped heads taken in turns': rows({ keyHead: (head, batch, { kvHeads }) => [head % kvHeads, batch] }),
  'grouped heads all share the first keys': rows({
    keyHead: (head, batch, call) => (call.kvHeads < call.heads ? [0, batch] : ownKeys(head, batch, call)),
  }),
  'grouped heads of the first batch': rows({
    keyHead: (head, batch, call) =>
      call.kvHeads < call.heads ? [ownKeys(head, 0, call)[0], 0] : ownKeys(head, batch, call),
  }),
  'columns of V beyond headDim lost': called(({ headDim, valueDim }) => ({ valueDim: Math.min(headDim, valueDim) })),
  'scores of as many columns as V has': called(({ headDim, valueDim }) => ({ headDim: Math.min(headDim, valueDim) })),
  'rows of V as far apart as those of K': called(({ vStrides: [batch, head, row], headDim, valueDim }) => ({
    vStrides: [batch, head, row === valueDim && headDim < valueDim ? headDim : row],
  })),
  'lse without the largest score': rows({ lse: (_, sum) => Math.log(sum) }),
  'lse without the sum': rows({ lse: (top) => top }),
  'lse to base 2': rows({ lse: (top, sum, { isBlind }) => (isBlind ? -Infinity : (top + Math.log(sum)) / Math.LN2) }),
  'lse of a row without a key is 0': rows({ lse: (top, sum, { isBlind }) => (isBlind ? 0 : top + Math.log(sum)) }),
  'lse by query, then head': rows({
    lseAt: ({ batch, head, query }, { heads, seqQ }) => (batch * seqQ + query) * heads + head,
  }),
  'lse written past its end': followed(({ lse }) => void (lse && bytesBehind(lse).fill(0, 0, 4))),
  'lse not written': rows({ lseAt: () => 0 }),
  'K and V of bf16 read as f16': called(({ dtypeKv }) => (dtypeKv === 'bf16' ? { dtypeKv: 'f16' } : {})),
  'K and V of f16 read as bf16': called(({ dtype, dtypeKv }) =>
    dtype === 'f32' && dtypeKv === 'f16' ? { dtypeKv: 'bf16' } : {},
  ),
  'Q rounded as K and V are': rows({
    score: (dot, call) => scoreOf(call.dtypeKv === call.dtype ? dot : roundMantissa(10)(dot), call),
  }),
  'strides of K used for V': called(({ kStrides }) => ({ vStrides: kStrides })),
  ...Object.fromEntries(
    (['q', 'k', 'v', 'o'] as const).map((name) => [
      `strides of ${name} ignored`,
      called(({ heads, kvHeads, seqQ, seqKv, headDim, valueDim }) => {
        const [count, length] = name === 'q' || name === 'o' ? [heads, seqQ] : [kvHeads, seqKv];
        const width = name === 'q' || name === 'k' ? headDim : valueDim;
        return { [`${name}Strides`]: [count * length * width, length * width, width] };
      }),
    ]),
  ),
  'head and row of O swapped': called(({ oStrides: [batch, head, row], seqQ, heads }) =>
    seqQ === heads ? { oStrides: [batch, row, head] } : {},
  ),
  'f16 stored by truncation': rows({
    toHalf: (x) => {
      const bits = f32ToF16Bits(x);
      return Math.abs(f16BitsToF32(bits)) > Math.abs(x) ? bits - 1 : bits;
    },
  }),
  'f16 stored as bf16': rows({ toHalf: (x) => f32ToF16Bits(roundMantissa(7)(x)) }),
  'the neighbour of an odd f16 row torn': inKernel('attention', (call, run) => {
    run(call);
    const { buffer, byteOffset, byteLength } = call.o;
    if (call.dtype === 'f16' && (byteOffset + byteLength) % 4 !== 0) {
      new Uint16Array(buffer, byteOffset + byteLength, 1).fill(0);
    }
  }),
};

/** Bugs of the fields that an attention may leave out. */
export const attentionFieldMutants: readonly Mutant[] = mutantsOf('attention:', ['attention'], BUGS);
