import { expect, it } from 'vitest';
import { type ElementType, type HostTensor, hostTensor } from '../src/graph/host-tensor.ts';
import { loadOnnx } from '../src/index.ts';
import {
  byRuntime,
  expectAsRuntime,
  expectRefused,
  modelOf,
  Numbers,
  type OneNode,
} from './support/against-runtime.ts';
import { onBackends } from './support/backends.ts';
import { difference } from './support/node-tests.ts';
import { type Given, i64, modelBytes } from './support/write-model.ts';

const numbers = new Numbers(11);
const x = (dims: readonly number[], type: ElementType = 'float32', low = -1, high = 1): HostTensor =>
  numbers.tensor(dims, type, low, high);
const i32 = (dims: readonly number[], values: readonly number[]): HostTensor => hostTensor('int32', dims, values);
const H = { relative: 4e-3, absolute: 4e-3 };

interface Weight {
  readonly bits?: number;
  readonly block?: number;
  readonly zeros?: 'bytes' | 'floats';
  readonly bias?: boolean;
  readonly type?: ElementType;
}

/** MatMulNBits of `[..., k]` by `[n, k]`. */
function nBits(dims: readonly number[], n: number, given: Weight = {}): OneNode {
  const { bits = 4, block = 32, zeros, bias = false, type = 'float32' } = given;
  const k = dims.at(-1) as number;
  const blocks = Math.ceil(k / block);
  const points = {
    bytes: numbers.bytes([n, Math.ceil((blocks * bits) / 8)]),
    floats: x([n, blocks], type, 3, 12),
  };
  return {
    op: 'com.microsoft.MatMulNBits',
    inputs: [
      x(dims, type),
      numbers.bytes([n, blocks, (block * bits) / 8]),
      x([n, blocks], type, 0.01, 0.1),
      zeros && points[zeros],
      undefined,
      bias ? x([n], type) : undefined,
    ],
    constant: [1, 2, 3, 5],
    attributes: { K: k, N: n, bits, block_size: block },
    ...(type === 'float16' ? H : { relative: 1e-4, absolute: 1e-4 }),
  };
}

interface Query {
  readonly batch?: number;
  readonly rows: number;
  readonly past?: number;
  /** Rows of a cache that is larger than what is in it. */
  readonly room?: number;
  readonly packed?: boolean;
  readonly rotary?: 'halves' | 'pairs';
  readonly positions?: boolean;
  readonly bias?: boolean;
  readonly sink?: boolean;
  readonly type?: ElementType;
  readonly turned?: number;
  readonly more?: Readonly<Record<string, Given>>;
  readonly lengths?: readonly number[];
}

const [HEADS, KV, DIM] = [4, 2, 32];

function groupQuery(given: Query): OneNode {
  const { batch = 1, rows, past = 0, room = past, packed = false, rotary, type = 'float32', turned = DIM } = given;
  const total = past + rows;
  // What comes after the rows of a text is not said.
  const cache = (): HostTensor => {
    const all = x([batch, KV, room, DIM], type);
    const isRow = (i: number): boolean =>
      Math.floor(i / DIM) % room < (given.lengths?.[Math.floor(i / (KV * room * DIM))] ?? total) - rows;
    return { ...all, data: (all.data as Float32Array).map((each, i) => (isRow(i) ? each : 0)) };
  };
  const table = (): HostTensor => x([64, turned / 2], type);
  const places = Array.from({ length: batch * rows }, (_, i) => past + (i % rows));
  return {
    op: 'com.microsoft.GroupQueryAttention',
    inputs: [
      x([batch, rows, (packed ? HEADS + 2 * KV : HEADS) * DIM], type),
      ...(packed ? [undefined, undefined] : [x([batch, rows, KV * DIM], type), x([batch, rows, KV * DIM], type)]),
      ...(room > 0 ? [cache(), cache()] : [undefined, undefined]),
      i32([batch], given.lengths?.map((each) => each - 1) ?? Array.from({ length: batch }, () => total - 1)),
      i32([], [total]),
      ...(rotary ? [table(), table()] : [undefined, undefined]),
      given.positions ? i64([batch, rows], places) : undefined,
      given.bias ? x([1, HEADS, rows, total], type) : undefined,
      given.sink ? x([HEADS], type) : undefined,
    ],
    attributes: {
      ...{ num_heads: HEADS, kv_num_heads: KV, do_rotary: rotary ? 1 : 0 },
      ...{ rotary_interleaved: rotary === 'pairs' ? 1 : 0, ...given.more },
    },
    outputs: [0, 1, 2],
    ...(type === 'float16' ? H : {}),
  };
}

const skip = (op: string, inputs: readonly HostTensor[], outputs: readonly number[] = [0]): OneNode => ({
  op: `com.microsoft.${op}`,
  inputs,
  outputs,
  attributes: { epsilon: { f: 1e-5 } },
});

const heads = (rows: number, n = 4, dim = 8): HostTensor => x([2, rows, n * dim]);
const multi = (
  inputs: readonly (HostTensor | undefined)[],
  more: Readonly<Record<string, Given>> = {},
  outputs: readonly number[] = [0],
): OneNode => ({ op: 'com.microsoft.MultiHeadAttention', inputs, attributes: { num_heads: 4, ...more }, outputs });
const self = (...given: Parameters<typeof multi>): OneNode => ({ ...multi(...given), op: 'com.microsoft.Attention' });

const table = (
  type: 'uint8' | 'uint4' | 'int4',
  dims: readonly number[],
  block: number,
  zeros: boolean,
  more: Readonly<Record<string, Given>> = {},
): OneNode => {
  const bits = Number(more['bits'] ?? 4);
  const scaleDims = dims.map((size, i) => (i === dims.length - 1 ? Math.ceil(size / block) : size));
  const stored = (all: readonly number[]): number[] =>
    all.map((size, i) => (type === 'uint8' && bits === 4 && i === all.length - 1 ? Math.ceil(size / 2) : size));
  return {
    op: 'com.microsoft.GatherBlockQuantized',
    inputs: [
      numbers.bytes(stored(dims), type),
      i64([2, 3], [0, 4, 2, 1, 3, 4]),
      x(scaleDims, 'float32', 0.01, 0.1),
      zeros ? numbers.bytes(stored(scaleDims), type) : undefined,
    ],
    constant: [0, 2, 3],
    attributes: { block_size: block, quantize_axis: dims.length - 1, ...more },
  };
};

const CASES: Readonly<Record<string, OneNode>> = {
  'MatMulNBits of 4 bits': nBits([3, 64], 24),
  'MatMulNBits of one row, blocks of 128, zero points': nBits([1, 1, 256], 16, { block: 128, zeros: 'bytes' }),
  'MatMulNBits of odd blocks, zero points and a bias': nBits([2, 3, 96], 10, { zeros: 'bytes', bias: true }),
  'MatMulNBits of a short last block': nBits([4, 80], 8, { block: 64, zeros: 'bytes' }),
  'MatMulNBits of float zero points': nBits([3, 64], 8, { zeros: 'floats' }),
  'MatMulNBits of 8 bits': nBits([3, 64], 24, { bits: 8 }),
  'MatMulNBits of 8 bits and zero points': nBits([1, 128], 24, { bits: 8, block: 64, zeros: 'bytes' }),
  'MatMulNBits of f16': nBits([3, 64], 24, { type: 'float16' }),
  'MatMulNBits of f16, zero points and a bias': nBits([1, 128], 24, { type: 'float16', zeros: 'bytes', bias: true }),

  'GroupQueryAttention of a prompt': groupQuery({ rows: 7 }),
  'GroupQueryAttention of a prompt, rotary': groupQuery({ batch: 2, rows: 7, rotary: 'halves' }),
  'GroupQueryAttention of a prompt, packed, rotary': groupQuery({ batch: 2, rows: 5, packed: true, rotary: 'halves' }),
  'GroupQueryAttention of a step': groupQuery({ batch: 2, rows: 1, past: 9, rotary: 'halves' }),
  'GroupQueryAttention of a step, packed, in pairs': groupQuery({ rows: 1, past: 9, packed: true, rotary: 'pairs' }),
  'GroupQueryAttention of a step in a large cache': groupQuery({
    batch: 2,
    rows: 1,
    past: 9,
    room: 24,
    rotary: 'halves',
  }),
  'GroupQueryAttention of a prompt in a large cache': groupQuery({ batch: 2, rows: 6, room: 6, rotary: 'halves' }),
  'GroupQueryAttention of several rows after a cache': groupQuery({ rows: 4, past: 5, rotary: 'halves' }),
  'GroupQueryAttention with positions': groupQuery({ rows: 3, past: 5, rotary: 'halves', positions: true }),
  'GroupQueryAttention with a part turned': groupQuery({ rows: 3, past: 5, rotary: 'halves', turned: 16 }),
  'GroupQueryAttention with a window': groupQuery({ rows: 9, rotary: 'halves', more: { local_window_size: 4 } }),
  'GroupQueryAttention of a step with a window': groupQuery({ rows: 1, past: 9, more: { local_window_size: 4 } }),
  'GroupQueryAttention with a scale and softcap': groupQuery({
    rows: 5,
    more: { scale: { f: 0.7 }, softcap: { f: 2.5 } },
  }),
  'GroupQueryAttention with a bias': groupQuery({ rows: 3, past: 4, bias: true }),
  'GroupQueryAttention with a smooth softmax': groupQuery({ rows: 5, more: { smooth_softmax: 1 } }),
  'GroupQueryAttention with sinks': groupQuery({ rows: 1, past: 5, sink: true }),
  'GroupQueryAttention of texts of different lengths': groupQuery({
    batch: 2,
    rows: 1,
    past: 9,
    lengths: [10, 6],
    rotary: 'halves',
  }),
  'GroupQueryAttention of f16': groupQuery({ batch: 2, rows: 1, past: 9, type: 'float16', rotary: 'halves' }),

  MultiHeadAttention: multi([heads(5), heads(7), heads(7)]),
  'MultiHeadAttention with a bias and a scale': multi([heads(5), heads(7), heads(7), x([96])], { scale: { f: 0.3 } }),
  'MultiHeadAttention with a mask of keys': multi([heads(5), heads(7), heads(7), undefined, x([2, 7], 'int32', 0, 1)]),
  'MultiHeadAttention with lengths': multi([heads(5), heads(7), heads(7), undefined, i32([2], [7, 3])]),
  'MultiHeadAttention with a mask of queries and keys': multi([
    heads(5),
    heads(7),
    heads(7),
    undefined,
    x([2, 5, 7], 'int32', 0, 1),
  ]),
  'MultiHeadAttention with what is added': multi([heads(5), heads(7), heads(7), undefined, undefined, x([1, 4, 5, 7])]),
  'MultiHeadAttention of keys in heads': multi([heads(5), x([2, 4, 7, 8]), x([2, 4, 7, 8])]),
  'MultiHeadAttention after a cache': multi(
    [heads(3), heads(3), heads(3), x([96]), undefined, undefined, x([2, 4, 6, 8]), x([2, 4, 6, 8])],
    { unidirectional: 1 },
    [0, 1, 2],
  ),
  'MultiHeadAttention of other values': multi([heads(5), heads(7), heads(7, 4, 6), x([88])]),

  Attention: self([heads(5), x([32, 96]), x([96])]),
  'Attention with a mask': self([heads(5), x([32, 96]), x([96]), x([2, 5], 'int32', 0, 1)]),
  'Attention with lengths': self([heads(5), x([32, 96]), x([96]), i32([2], [5, 2])]),
  'Attention in order, after a cache': self(
    [heads(2), x([32, 96]), x([96]), undefined, x([2, 2, 4, 3, 8])],
    { unidirectional: 1 },
    [0, 1],
  ),
  'Attention of other sizes': self([heads(5), x([32, 112]), x([112])], { qkv_hidden_sizes: [32, 32, 48] }),

  'RotaryEmbedding at positions': {
    op: 'com.microsoft.RotaryEmbedding',
    inputs: [x([2, 3, 32]), i64([2, 3], [0, 5, 2, 3, 9, 1]), x([10, 4]), x([10, 4])],
  },
  'RotaryEmbedding from a position, in pairs': {
    op: 'com.microsoft.RotaryEmbedding',
    inputs: [x([2, 4, 3, 8]), i64([1], [4]), x([10, 4]), x([10, 4])],
    attributes: { interleaved: 1 },
  },
  'RotaryEmbedding of a part': {
    op: 'com.microsoft.RotaryEmbedding',
    inputs: [x([2, 3, 32]), i64([1], [0]), x([10, 2]), x([10, 2])],
    attributes: { num_heads: 4, rotary_embedding_dim: 4 },
  },
  'RotaryEmbedding of ONNX': {
    op: 'RotaryEmbedding',
    inputs: [x([2, 4, 3, 8]), x([10, 4]), x([10, 4]), i64([2, 3], [0, 5, 2, 3, 9, 1])],
    opset: 23,
  },
  'RotaryEmbedding of ONNX without positions': {
    op: 'RotaryEmbedding',
    inputs: [x([2, 3, 32]), x([2, 3, 4]), x([2, 3, 4])],
    attributes: { num_heads: 4 },
    opset: 23,
  },
  'Attention of ONNX': { op: 'Attention', inputs: [x([2, 4, 5, 8]), x([2, 2, 7, 8]), x([2, 2, 7, 6])], opset: 23 },
  'Attention of ONNX, flat, with a mask': {
    op: 'Attention',
    inputs: [heads(5), heads(7, 2), heads(7, 2), x([5, 7])],
    attributes: { q_num_heads: 4, kv_num_heads: 2, scale: { f: 0.3 }, softcap: { f: 2 } },
    opset: 23,
  },
  'Attention of ONNX, with truths, in order, after a cache': {
    op: 'Attention',
    inputs: [x([2, 4, 3, 8]), x([2, 4, 3, 8]), x([2, 4, 3, 8]), undefined, x([2, 4, 5, 8]), x([2, 4, 5, 8])],
    attributes: { is_causal: 1 },
    outputs: [0, 1, 2],
    opset: 23,
  },
  'Attention of ONNX, in order with fewer queries': {
    op: 'Attention',
    inputs: [x([1, 2, 3, 8]), x([1, 2, 6, 8]), x([1, 2, 6, 8])],
    attributes: { is_causal: 1 },
    opset: 23,
  },

  SkipLayerNormalization: skip(
    'SkipLayerNormalization',
    [x([2, 3, 32]), x([2, 3, 32]), x([32]), x([32]), x([32])],
    [0, 3],
  ),
  'SkipLayerNormalization of one skip': skip('SkipLayerNormalization', [x([2, 3, 32]), x([3, 32]), x([32]), x([32])]),
  SkipSimplifiedLayerNormalization: skip(
    'SkipSimplifiedLayerNormalization',
    [x([2, 3, 32]), x([2, 3, 32]), x([32])],
    [0, 3],
  ),
  'SkipSimplifiedLayerNormalization with a bias': skip('SkipSimplifiedLayerNormalization', [
    x([2, 1, 32]),
    x([2, 1, 32]),
    x([32]),
    x([32]),
  ]),
  'SkipSimplifiedLayerNormalization of f16': {
    ...skip(
      'SkipSimplifiedLayerNormalization',
      [x([2, 3, 32], 'float16'), x([2, 3, 32], 'float16'), x([32], 'float16')],
      [0, 3],
    ),
    ...H,
  },
  Gelu: { op: 'com.microsoft.Gelu', inputs: [x([4, 9], 'float32', -4, 4)] },
  BiasGelu: { op: 'com.microsoft.BiasGelu', inputs: [x([4, 9], 'float32', -4, 4), x([9])] },
  FastGelu: { op: 'com.microsoft.FastGelu', inputs: [x([4, 9], 'float32', -4, 4)] },
  'FastGelu with a bias': { op: 'com.microsoft.FastGelu', inputs: [x([4, 9], 'float32', -4, 4), x([9])] },
  QuickGelu: {
    op: 'com.microsoft.QuickGelu',
    inputs: [x([4, 9], 'float32', -4, 4)],
    attributes: { alpha: { f: 1.3 } },
  },
  FusedMatMul: {
    op: 'com.microsoft.FusedMatMul',
    inputs: [x([2, 4, 5]), x([2, 5, 6])],
    attributes: { alpha: { f: 0.25 } },
  },
  'FusedMatMul, both transposed': {
    op: 'com.microsoft.FusedMatMul',
    inputs: [x([2, 5, 4]), x([6, 5])],
    attributes: { transA: 1, transB: 1 },
  },
  FusedConv: {
    op: 'com.microsoft.FusedConv',
    inputs: [x([1, 3, 6, 6]), x([4, 3, 3, 3]), x([4])],
    attributes: { activation: 'Relu', pads: [1, 1, 1, 1] },
  },
  'FusedConv with what is added before': {
    op: 'com.microsoft.FusedConv',
    inputs: [x([1, 3, 6, 6]), x([4, 3, 3, 3]), x([4]), x([1, 4, 4, 4])],
    attributes: { activation: 'Relu' },
  },
  'FusedConv with LeakyRelu': {
    op: 'com.microsoft.FusedConv',
    inputs: [x([1, 3, 6, 6]), x([4, 3, 3, 3]), x([4])],
    attributes: { activation: 'LeakyRelu', activation_params: { floats: [0.2] } },
  },
  'GatherBlockQuantized of u4': table('uint4', [5, 64], 16, false),
  'GatherBlockQuantized of i4 and zero points': table('int4', [5, 64], 32, true),
  'GatherBlockQuantized of bytes': table('uint8', [5, 64], 16, false),
  'GatherBlockQuantized of bytes and zero points': table('uint8', [5, 96], 32, true),
  'GatherBlockQuantized of 8 bits': table('uint8', [5, 64], 32, true, { bits: 8 }),
  'GatherBlockQuantized of a later axis': table('uint4', [3, 5, 32], 32, true, { gather_axis: 1 }),
};

const REFUSED: Readonly<Record<string, OneNode>> = {
  'a weight that is no constant': { ...nBits([3, 64], 8), constant: [] },
  '2 bits': nBits([3, 64], 8, { bits: 2 }),
  transBatchA: {
    op: 'com.microsoft.FusedMatMul',
    inputs: [x([2, 4, 5]), x([2, 5, 6])],
    attributes: { transBatchA: 1 },
  },
  'scores as a result': { ...groupQuery({ rows: 3 }), attributes: { num_heads: 4, kv_num_heads: 2, qk_output: 1 } },
};

onBackends('operators of com.microsoft', (backend) => {
  it.each(Object.entries(CASES))('%s', (_, given) => expectAsRuntime(backend(), given));

  it.each([
    ['heads', 1],
    ['keys and values', 2],
  ])('MultiHeadAttention of packed %s', async (_, packed) => {
    // ONNX Runtime's CPU provider has no packed ones.
    const [q, k, v] = [x([2, 5, 4, 8]), x([2, 5, 4, 8]), x([2, 5, 4, 8])];
    const flat = (each: HostTensor): HostTensor => ({ ...each, dims: [2, 5, 32] });
    const joined = packed === 1 ? [q, k, v] : [k, v];
    const data = Array.from({ length: 40 }, (__, row) =>
      joined.flatMap((each) => [...(each.data as Float32Array).subarray(row * 8, row * 8 + 8)]),
    );
    const side = hostTensor('float32', [2, 5, 4, joined.length, 8], data.flat());
    const ours = modelOf(multi(packed === 1 ? [side] : [flat(q), side]));
    const theirs = modelOf(multi([flat(q), flat(k), flat(v)]));
    const wanted = await byRuntime(modelBytes(theirs.parts), theirs.feeds);
    using model = await loadOnnx(backend(), modelBytes(ours.parts));
    const { out0 } = await model.runOnHost(ours.feeds);
    expect(difference(out0 as HostTensor, wanted['out0'] as HostTensor, 1e-4, 1e-5)).toBe(undefined);
  });

  it.each(Object.entries(REFUSED))('refuse what they cannot compute: %s', (what, given) =>
    expectRefused(backend(), given, 'UNSUPPORTED', new RegExp(`onnx: node com.microsoft.*${what}`)),
  );
});
