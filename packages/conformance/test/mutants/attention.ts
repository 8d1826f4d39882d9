import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { ResolvedAttention } from '@concord/backend-core/implement';
import { bytesBehind, floats, inKernel, type Mutant, roundMantissa } from './mutant.ts';

type Call = ResolvedAttention<ArrayBuffer>;
type Wrap = Mutant['wrap'];

/** Replaceable parts of attention by rows. */
interface Parts {
  /** Number of keys that query i sees. */
  readonly visible?: (i: number, call: Call) => number;
  /** Which head of K and V belongs to head `head` (of batch x heads) of Q. */
  readonly keyHead?: (head: number, call: Call) => number;
  readonly score?: (dot: number, call: Call) => number;
  /** What is subtracted from the scores. */
  readonly largest?: (scores: readonly number[]) => number;
  readonly weight?: (weight: number) => number;
  readonly total?: (total: number) => number;
  readonly element?: (x: number) => number;
  readonly valueElement?: (x: number) => number;
  /** Terms of Q K^T that are added. */
  readonly depth?: (headDim: number) => number;
  /** Adds to the output the keys that the mask hides, with weight 0. */
  readonly touchesHidden?: boolean;
}

const same = (x: number): number => x;
const maskOf = (i: number, { causal, seqKv }: Call): number => (causal ? Math.min(i + 1, seqKv) : seqKv);
const maximum = (scores: readonly number[]): number => scores.reduce((x, y) => Math.max(x, y), -Infinity);

function naiveAttention(call: Call, parts: Parts): void {
  const { visible = maskOf, keyHead = same, score = (dot) => Math.fround(dot) * call.scale, largest = maximum } = parts;
  const { weight = same, total = same, element = same, valueElement = same, depth = same } = parts;
  const [q, k, v, o] = [floats(call.q), floats(call.k), floats(call.v), floats(call.o)];
  const { seqQ, seqKv, headDim } = call;
  for (let row = 0; row < call.batch * call.heads * seqQ; row++) {
    const start = keyHead(Math.floor(row / seqQ), call) * seqKv;
    const keys = visible(row % seqQ, call);
    const scores = Array.from({ length: keys }, (_, j) => {
      let dot = 0;
      for (let d = 0; d < depth(headDim); d++) {
        dot += element(q[row * headDim + d] as number) * element(k[(start + j) * headDim + d] as number);
      }
      return score(dot, call);
    });
    const top = largest(scores);
    const weights = scores.map((x) => weight(Math.exp(x - top)));
    const sum = total(weights.reduce((x, y) => x + y, 0));
    for (let d = 0; d < headDim; d++) {
      let value = 0;
      for (let j = 0; j < (parts.touchesHidden === true ? seqKv : keys); j++) {
        value += (weights[j] ?? 0) * valueElement(v[(start + j) * headDim + d] as number);
      }
      o[row * headDim + d] = value / sum;
    }
  }
}

const rows = (parts: Parts): Wrap => inKernel('attention', (call) => naiveAttention(call, parts));
const called = (change: (call: Call) => Partial<Call>): Wrap =>
  inKernel('attention', (call, run) => run({ ...call, ...change(call) }));
const followed = (tamper: (call: Call, before: Float32Array) => void): Wrap =>
  inKernel('attention', (call, run) => {
    const before = floats(call.o).slice();
    run(call);
    tamper(call, before);
  });

/** Copies the rows that `where` chooses back to what they held before. */
const lost = (where: (row: number, call: Call) => boolean): Wrap =>
  followed((call, before) => {
    const { headDim } = call;
    for (let row = 0; row * headDim < before.length; row++) {
      const at = row * headDim;
      if (where(row, call)) floats(call.o).set(before.subarray(at, at + headDim), at);
    }
  });

let calls = 0;

const BUGS: Readonly<Record<string, Wrap>> = {
  'causal sees one key too many': rows({ visible: (i, c) => (c.causal ? Math.min(i + 2, c.seqKv) : c.seqKv) }),
  'causal sees one key too few': rows({
    visible: (i, c) => (c.causal ? Math.min(Math.max(i, 1), c.seqKv) : c.seqKv),
  }),
  'causal ignored': called(() => ({ causal: false })),
  'causal always': called(() => ({ causal: true })),
  'causal aligned at the last key': rows({
    visible: (i, c) => (c.causal ? Math.min(Math.max(i + 1 + c.seqKv - c.seqQ, 1), c.seqKv) : c.seqKv),
  }),
  'hidden keys multiplied by 0': rows({ touchesHidden: true }),
  'scale ignored': called(() => ({ scale: 1 })),
  'scale always 1 / sqrt(headDim)': called(({ headDim }) => ({ scale: 1 / Math.sqrt(headDim) })),
  'scale multiplied to the terms': rows({ score: (dot, { scale }) => dot * scale }),
  'scale applied twice': called(({ scale }) => ({ scale: scale * scale })),
  'scale 1 / sqrt(seqKv)': called(({ scale, headDim, seqKv }) => ({
    scale: (scale * Math.sqrt(headDim)) / Math.sqrt(seqKv),
  })),
  'batch and heads mixed up': rows({
    keyHead: (head, { batch, heads }) => (head % heads) * batch + Math.floor(head / heads),
  }),
  'all heads share the first keys': rows({ keyHead: (head, { heads }) => head - (head % heads) }),
  'all batches share the first keys': rows({ keyHead: (head, { heads }) => head % heads }),
  'softmax without its maximum': rows({
    largest: () => 0,
    weight: Math.fround,
    total: Math.fround,
  }),
  'the maximum starts at 0': rows({ largest: (scores) => Math.max(0, maximum(scores)), weight: Math.fround }),
  'not normalised': rows({ total: () => 1 }),
  'the last key dropped': rows({ visible: (i, call) => Math.max(1, maskOf(i, call) - (call.causal ? 0 : 1)) }),
  'keys from the 1,024th on dropped': rows({ visible: (i, call) => Math.min(1024, maskOf(i, call)) }),
  'keys from the 2,049th on dropped': rows({ visible: (i, call) => Math.min(2048, maskOf(i, call)) }),
  'the last key lost when it is the first of a tile': rows({
    visible: (i, call) => {
      const keys = maskOf(i, call);
      return keys > 64 && keys % 64 === 1 ? keys - 1 : keys;
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
    score: (dot, { scale }) => (Number.isNaN(dot) ? -Infinity : Math.fround(dot) * scale),
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
  'Q overwritten with scaled Q': followed(({ q, scale }) => {
    const values = floats(q);
    for (let i = 0; i < values.length; i++) (values[i] as number) *= scale;
  }),
  'K used as scratch': followed(({ k }) => floats(k).fill(0, -1)),
  'not deterministic': followed(({ o }) => {
    const values = floats(o);
    const bits = new Uint32Array(values.buffer, values.byteOffset, values.length);
    for (const i of values.keys()) if (calls % 2 === 1) (bits[i] as number) ^= 1;
    calls++;
  }),
};

/** Bugs of attention. */
export const attentionMutants: readonly Mutant[] = Object.entries(BUGS).map(([name, wrap]) => ({
  name: `attention: ${name}`,
  ops: ['attention'],
  wrap,
}));
