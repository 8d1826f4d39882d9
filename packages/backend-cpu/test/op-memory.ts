import {
  type AttentionShape,
  f16BitsToF32,
  f32ToF16Bits,
  type FloatDType,
  type AttentionViews,
  fromBf16Array,
  type StoredFloatDType,
  toBf16Array,
} from '@concord/backend-core';
import {
  BYTES_OF,
  type CheckedAttention,
  type CheckedConv2d,
  type Operand,
  OPS,
  type ResolvedAttention,
  type ResolvedConv2d,
  type ResolvedGemm,
  type ResolvedTopK,
} from '@concord/backend-core/implement';
import {
  attentionReference,
  batchedGemmReference,
  conv2dReference,
  topKReference,
} from '@concord/backend-cpu/reference';
import { expect } from 'vitest';

// Calls of the ops that have kernels of their own, on memory of a device under test, each compared with the oracle: all of
// the memory of an output, so that nothing beside it may change.

/** The memory of a device. */
export interface TestMemory<Buffer> {
  /** A buffer with these bytes in it, a multiple of four. */
  make(bytes: Uint8Array): Buffer;
  read(buffer: Buffer): Uint8Array | Promise<Uint8Array>;
  free(buffer: Buffer): void;
}

/** How numbers lie in memory. */
export interface Layout {
  readonly dtype?: StoredFloatDType | undefined;
  /** Elements in front of the first, and at least as many after the last. */
  readonly lead?: number | undefined;
}

/** Small integers, for which every order of summation gives the same bits. */
export function integers(length: number, seed: number): number[] {
  return Array.from({ length }, (_, i) => ((Math.imul(i + seed, 0x9e3779b1) >>> 16) % 5) - 2);
}

/** Numbers in [-1, 1). */
export function drawn(length: number, seed: number): Float32Array {
  return Float32Array.from({ length }, (_, i) => (Math.imul(i * 2 + seed, 0x9e3779b1) >>> 8) / 2 ** 23 - 1);
}

const roundedTo = (dtype: StoredFloatDType, x: number): number => {
  if (dtype === 'bf16') return fromBf16Array(toBf16Array([x]))[0] as number;
  return dtype === 'f16' ? f16BitsToF32(f32ToF16Bits(x)) : x;
};

/** Numbers as an operand, in memory that holds NaN around them. */
export function place<Buffer>(
  memory: TestMemory<Buffer>,
  values: ArrayLike<number>,
  { dtype = 'f32', lead = 0 }: Layout = {},
): Operand<Buffer> {
  const size = BYTES_OF[dtype];
  const length = Math.ceil(((2 * lead + values.length) * size) / 4) * (4 / size);
  const whole = Array.from({ length }, (_, i) => values[i - lead] ?? Number.NaN);
  const ofHalves = dtype === 'f16' ? Uint16Array.from(whole, f32ToF16Bits) : toBf16Array(whole);
  const stored = dtype === 'f32' ? Float32Array.from(whole) : ofHalves;
  return {
    buffer: memory.make(new Uint8Array(stored.buffer)),
    byteOffset: lead * size,
    byteLength: values.length * size,
  };
}

/** Integers of 32 bits as an operand. */
function placeIntegers<Buffer>(memory: TestMemory<Buffer>, values: readonly number[]): Operand<Buffer> {
  const bytes = new Uint8Array(Int32Array.from(values).buffer);
  return { buffer: memory.make(bytes), byteOffset: 0, byteLength: bytes.length };
}

/** All numbers of an operand's memory. */
async function wholeOf<Buffer>(memory: TestMemory<Buffer>, { buffer }: Operand<Buffer>, dtype: StoredFloatDType) {
  const { buffer: bytes } = (await memory.read(buffer)).slice();
  return dtype === 'f16' ? Array.from(new Uint16Array(bytes), f16BitsToF32) : [...new Float32Array(bytes)];
}

/** The numbers of an operand. */
export async function read<Buffer>(
  memory: TestMemory<Buffer>,
  operand: Operand<Buffer>,
  dtype: FloatDType = 'f32',
): Promise<number[]> {
  const size = dtype === 'f16' ? 2 : 4;
  const first = operand.byteOffset / size;
  return (await wholeOf(memory, operand, dtype)).slice(first, first + operand.byteLength / size);
}

/** Expects numbers in an output, and NaN around them; frees all operands of the call. */
async function expectOutput<Buffer>(
  memory: TestMemory<Buffer>,
  operands: Readonly<Record<string, Operand<Buffer>>>,
  output: Operand<Buffer>,
  want: readonly number[],
  { dtype = 'f32', lead = 0 }: Layout,
  limitOf: (wanted: number) => number = () => 0,
): Promise<void> {
  const got = await wholeOf(memory, output, dtype);
  for (const { buffer } of Object.values(operands)) memory.free(buffer);
  const wrong = got.flatMap((x, at) => {
    const wanted = want[at - lead] ?? Number.NaN;
    return x === wanted || Object.is(x, wanted) || Math.abs(x - wanted) <= limitOf(wanted) ? [] : [{ at, x, wanted }];
  });
  expect(got.length).toBeGreaterThanOrEqual(want.length + 2 * lead);
  expect(wrong.slice(0, 3)).toEqual([]);
}

/** A product of a batch. */
export interface GemmCase {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly trans?: 'NN' | 'NT' | 'TN' | 'TT';
  readonly dtype?: FloatDType;
  readonly batchCount?: number;
  /** Elements between the end of a row and the next, in front of the first matrix, and between two matrices of C. */
  readonly pad?: number;
  readonly offset?: number;
  readonly gap?: number;
  /** The operand that all matrices of the batch share. */
  readonly shared?: 'a' | 'b';
  /** Changes what was drawn. */
  readonly spoil?: (values: { readonly a: number[]; readonly b: number[] }) => void;
  /** Default 2. */
  readonly alpha?: number;
  /** Default -1. */
  readonly beta?: number;
}

/** A product of small integers, which has to be exact. */
export async function checkGemm<Buffer>(
  memory: TestMemory<Buffer>,
  { m, n, k, trans = 'NN', dtype = 'f32', batchCount = 1, pad = 0, offset = 0, gap = 0, ...rest }: GemmCase,
  run: (call: ResolvedGemm<Buffer>) => void,
): Promise<void> {
  const { shared, spoil, alpha = 2, beta = -1 } = rest;
  const [transA, transB] = [trans.startsWith('T'), trans.endsWith('T')];
  const [lda, ldb, ldc] = [(transA ? m : k) + pad, (transB ? k : n) + pad, n + pad];
  const [sizeA, sizeB, sizeC] = [(transA ? k : m) * lda, (transB ? n : k) * ldb, m * ldc + gap];
  const strides = { strideA: shared === 'a' ? 0 : sizeA, strideB: shared === 'b' ? 0 : sizeB, strideC: sizeC };
  const [a, b] = [integers(batchCount * sizeA, 1), integers(batchCount * sizeB, 4)];
  spoil?.({ a, b });
  // Where beta is 0, C may hold anything.
  const c = integers(batchCount * sizeC, 2).map((value) => (beta === 0 ? Number.NaN : value));
  const layout = { dtype, lead: offset };
  const operands = { a: place(memory, a, layout), b: place(memory, b, layout), c: place(memory, c, layout) };
  const sizes = { m, n, k, lda, ldb, ldc, batchCount, ...strides, alpha, beta };
  run({ opName: 'batchedGemm', dtype, operands: [], epilogue: undefined, ...sizes, transA, transB, ...operands });

  const letters = { transA: transA ? 'T' : 'N', transB: transB ? 'T' : 'N' } as const;
  const { value } = batchedGemmReference({ ...sizes, ...letters }, a, b, c);
  const want = [...c];
  for (const [i, entry] of value.entries()) {
    const row = Math.floor(i / n);
    want[Math.floor(row / m) * sizeC + (row % m) * ldc + (i % n)] = roundedTo(dtype, entry);
  }
  await expectOutput(memory, operands, operands.c, want, layout);
}

/** A convolution in a test, by what differs from the plain one. */
export interface Conv2dCase {
  readonly input: readonly [n: number, c: number, h: number, w: number];
  readonly filter: readonly [k: number, r: number, s: number];
  readonly stride?: readonly [number, number];
  /** Above and left, and below and right where that differs. */
  readonly padding?: readonly [top: number, left: number, bottom?: number, right?: number];
  readonly dilation?: readonly [number, number];
  readonly groups?: number;
  readonly dtype?: FloatDType;
}

/** All that a call says of its shape. */
export function conv2dShape(conv: Conv2dCase) {
  const { input, filter, stride = [1, 1], padding = [0, 0], dilation = [1, 1], groups = 1 } = conv;
  const [n, c, h, w] = input;
  const [k, r, s] = filter;
  const [top, left, bottom = top, right = left] = padding;
  const extent = (axis: 0 | 1, size: number, taps: number): number =>
    Math.floor((size - dilation[axis] * (taps - 1) - 1) / stride[axis]) + 1;
  const filterShape = [k, c / groups, r, s] as const;
  const outputShape = [n, k, extent(0, h + top + bottom, r), extent(1, w + left + right, s)] as const;
  return {
    inputShape: input,
    filterShape,
    outputShape,
    stride,
    padding: [top, left, bottom, right],
    dilation,
    groups,
  } as const;
}

/** The call, and how many elements its operands have. */
export function conv2dCall(
  conv: Conv2dCase,
): Omit<CheckedConv2d, 'dtypeFilter'> & Readonly<Record<'inputs' | 'weights' | 'outputs', number>> {
  const shape = conv2dShape(conv);
  const [inputs, weights, outputs] = [shape.inputShape, shape.filterShape, shape.outputShape].map((sizes) =>
    sizes.reduce((x, y) => x * y, 1),
  ) as [number, number, number];
  return { operands: [], dtype: conv.dtype ?? 'f32', transposed: false, ...shape, inputs, weights, outputs };
}

/**
 * A convolution of small integers, which has to be exact.
 *
 * @param specials - whether the input has a NaN and infinities; over padding an infinite weight may give anything
 */
export async function checkConv2d<Buffer>(
  memory: TestMemory<Buffer>,
  conv: Conv2dCase,
  run: (call: ResolvedConv2d<Buffer>) => void,
  { specials = false, lead = 0 }: Layout & { readonly specials?: boolean } = {},
): Promise<void> {
  const shape = conv2dCall(conv);
  const { dtype } = shape as { readonly dtype: FloatDType };
  const [inputs, weights] = [integers(shape.inputs, 1), integers(shape.weights, 4)];
  if (specials) {
    inputs[0] = Number.NaN;
    inputs[shape.inputs >> 1] = -Infinity;
    inputs[shape.inputs - 1] = Infinity;
  }
  const layout = { dtype, lead };
  const output = place(memory, integers(shape.outputs, 2), layout);
  const operands = { input: place(memory, inputs, layout), filter: place(memory, weights, layout), output };
  run({ ...shape, ...operands, opName: 'conv2dForward' });
  const want = Array.from(conv2dReference(shape, inputs, weights).value, (x) => roundedTo(dtype, x));
  await expectOutput(memory, operands, output, want, layout);
}

/** An attention in a test: of one batch and one head, with the usual scale, unless given. */
export type AttentionCase = Omit<AttentionShape & AttentionViews, 'batch' | 'heads' | 'scale'> & {
  readonly batch?: number;
  readonly heads?: number;
};

/** The contents of the operands of an attention. */
export interface AttentionValues {
  readonly q: Float32Array;
  readonly k: Float32Array;
  readonly v: Float32Array;
  readonly mask: Float32Array;
}

/** How an attention is checked. */
export interface AttentionCheck {
  /** Changes what was drawn. */
  readonly spoil?: ((values: AttentionValues, call: CheckedAttention) => void) | undefined;
  /** The largest error, to which in f16 a thousandth of the value comes. Default 1e-5. */
  readonly bound?: number | undefined;
  /** Elements in front of Q, and of the other operands. */
  readonly leads?: readonly [q: number, others: number] | undefined;
  /** In memory, of each batch: the number of keys, and the place of query 0. */
  readonly lengths?: readonly number[] | undefined;
  readonly starts?: readonly number[] | undefined;
}

/** An attention; an element of the mask in four is -Infinity. */
export async function checkAttention<Buffer>(
  memory: TestMemory<Buffer>,
  shape: AttentionCase,
  run: (call: ResolvedAttention<Buffer>) => void,
  { spoil, bound = 1e-5, leads: [leadQ, lead] = [0, 0], lengths, starts }: AttentionCheck = {},
): Promise<void> {
  const each = { strides: [1] } as const;
  const views = { ...(lengths && { lengths: each }), ...(starts && { starts: each }) };
  const whole = { batch: 1, heads: 1, ...shape, ...views, scale: 1 / Math.sqrt(shape.headDim) };
  const checked = OPS.attention.check(whole, false) as CheckedAttention;
  const { heads, seqQ, valueDim, oStrides } = checked;
  const { dtype } = checked as { readonly dtype: FloatDType };
  const lengthOf = (name: string): number => checked.operands.find((each) => each.name === name)?.elements ?? 0;
  const valuesOf = (name: string, seed: number, to: StoredFloatDType = dtype): Float32Array =>
    drawn(lengthOf(name), seed).map((x) => roundedTo(to, x));
  const values = {
    ...{ q: valuesOf('q', 1), k: valuesOf('k', 7, checked.dtypeKv), v: valuesOf('v', 3, checked.dtypeKv) },
    mask: drawn(lengthOf('mask'), 5).map((x) => (x > 0.5 ? -Infinity : x)),
  };
  spoil?.(values, checked);
  const before = valuesOf('o', 2);
  const operands = {
    q: place(memory, values.q, { dtype, lead: leadQ }),
    k: place(memory, values.k, { dtype: checked.dtypeKv, lead }),
    v: place(memory, values.v, { dtype: checked.dtypeKv, lead }),
    ...(shape.mask === undefined ? {} : { mask: place(memory, values.mask, { lead }) }),
    ...(lengths && { lengths: placeIntegers(memory, lengths) }),
    ...(starts && { starts: placeIntegers(memory, starts) }),
    o: place(memory, before, { dtype, lead }),
  };
  run({ ...checked, ...operands, opName: 'attention' });
  const want = [...before];
  const reference = attentionReference(whole, values.q, values.k, values.v, values.mask, { lengths, starts });
  for (const [i, value] of reference.value.entries()) {
    const row = Math.floor(i / valueDim);
    const head = Math.floor(row / seqQ);
    const [x, y, z] = oStrides;
    want[Math.floor(head / heads) * x + (head % heads) * y + (row % seqQ) * z + (i % valueDim)] = value;
  }
  await expectOutput(memory, operands, operands.o, want, { dtype, lead }, (wanted) =>
    dtype === 'f16' ? bound + 1e-3 * Math.abs(wanted) : bound,
  );
}

/** Rows to select from, and how many of each. */
export type TopKCase = readonly [rows: number, columns: number, k: number];

/** Numbers with equals among them, a NaN, and both zeros. */
function elements(length: number): Float32Array {
  const values = Float32Array.from({ length }, (_, i) => ((Math.imul(i + 1, 0x9e3779b1) >>> 12) % 500) - 250);
  values[5 % length] = Number.NaN;
  return values.map((x, i) => (x === 0 && i % 2 === 1 ? -0 : x));
}

/** A selection of the largest, or the smallest; every bit of what is selected has to arrive. */
export async function checkTopK<Buffer>(
  memory: TestMemory<Buffer>,
  [rows, columns, k]: TopKCase,
  largest: boolean,
  run: (call: ResolvedTopK<Buffer>) => void,
  data: Float32Array = elements(rows * columns),
): Promise<void> {
  const layout = { lead: 1 };
  const results = new Float32Array(rows * k);
  const [values, indices] = [place(memory, results, layout), place(memory, results, layout)];
  const operands = { input: place(memory, data, layout), values, indices };
  run({ opName: 'topK', dtype: 'f32', operands: [], largest, rows, columns, k, ...operands });
  const want = topKReference({ rows, columns, k, largest }, data);
  const wordsOf = async ({ buffer }: Operand<Buffer>): Promise<number[]> => [
    ...new Uint32Array((await memory.read(buffer)).slice().buffer),
  ];
  const bits = new Uint32Array(data.buffer, data.byteOffset, data.length);
  const [aside] = new Uint32Array(Float32Array.of(Number.NaN).buffer);
  const picked = [...want].map((at, i) => bits[Math.floor(i / k) * columns + at]);
  expect([await wordsOf(indices), await wordsOf(values)]).toEqual([
    [aside, ...want, aside],
    [aside, ...picked, aside],
  ]);
  for (const { buffer } of Object.values(operands)) memory.free(buffer);
}
