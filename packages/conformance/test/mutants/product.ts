import { f16BitsToF32, f32ToF16Bits, type GemmCall } from '@concord/backend-core';
import type { CheckedBlocks, CheckedQuant, ResolvedGemm, ResolvedRun } from '@concord/backend-core/implement';
import { inScale } from './derived.ts';
import { mutantsOf, type Wrap, bytesBehind, inCall, inKernel, type Mutant, roundMantissa, storage } from './mutant.ts';
import { inPlainProduct, naiveProduct } from './naive-product.ts';

type Gemm = ResolvedGemm<ArrayBuffer>;

const PRODUCTS = ['gemm', 'gemmF16', 'batchedGemm'] as const;
type Product = (typeof PRODUCTS)[number];

/** The right kernel, called wrongly. */
const called = (change: (call: Gemm) => Partial<Gemm>): Wrap =>
  inKernel('gemm', (call, run) => run({ ...call, ...change(call) }));

/** The right result, tampered with. */
const followed = (tamper: (call: Gemm, before: Float32Array | Uint16Array) => void): Wrap =>
  inKernel('gemm', (call, run) => {
    const before = storage(call.c, call.dtype).slice();
    run(call);
    tamper(call, before);
  });

/** Calls `visit` with the index of every element (row, column) of every C that `where` chooses. */
function visitC(call: Gemm, where: (row: number, column: number) => boolean, visit: (at: number) => void): void {
  for (let batch = 0; batch < call.batchCount; batch++) {
    for (let row = 0; row < call.m; row++) {
      for (let column = 0; column < call.n; column++) {
        if (where(row, column)) visit(batch * call.strideC + row * call.ldc + column);
      }
    }
  }
}

const zero = (call: Gemm, where: (row: number, column: number) => boolean): void => {
  const c = storage(call.c, call.dtype);
  visitC(call, where, (at) => (c[at] = 0));
};

/** 'C' taken for 'N', with the packed rows of that. */
function conjugateIsPlain(call: GemmCall): GemmCall {
  return {
    ...call,
    ...(call?.transA === 'C' && { transA: 'N' as const, lda: call.k }),
    ...(call?.transB === 'C' && { transB: 'N' as const, ldb: call.n }),
  };
}

/** Reads A where alpha is 0, so that a NaN in its first row is seen. */
const alphaZeroReadsA = (op: Product): Wrap =>
  inCall(op, (call, run, backend) => {
    run(call);
    const { m, n, k, alpha, dtype = op === 'gemmF16' ? 'f16' : 'f32' } = call;
    if (alpha !== 0 || m === 0 || n === 0) return;
    const elements = (pointer: typeof call.a, length: number): Float32Array | Uint16Array => {
      const { buffer, byteOffset } = backend.native.bytesOf(pointer);
      const byteLength = length * (dtype === 'f32' ? 4 : 2);
      return storage({ buffer: buffer as ArrayBuffer, byteOffset, byteLength }, dtype);
    };
    const row = Array.from(elements(call.a, k), (x) => (dtype === 'f16' ? f16BitsToF32(x) : x));
    if (!row.every(Number.isFinite)) elements(call.c, 1).fill(dtype === 'f16' ? 0x7e00 : Number.NaN);
  });

let calls = 0;

const inBfloat = (arithmetic: Parameters<typeof naiveProduct>[1]): Wrap =>
  inPlainProduct((call) => naiveProduct(call, call.dtype === 'bf16' ? arithmetic : {}));

/** Bugs in the arithmetic of bf16. */
const BF16_BUGS: Readonly<Record<string, Wrap>> = {
  'stores round toward zero': inBfloat({ toBf16Bits: (x) => new Uint32Array(Float32Array.of(x).buffer)[0]! >>> 16 }),
  'stores of f16': inBfloat({ toBf16Bits: f32ToF16Bits }),
  'sums rounded to bf16 after every step': inBfloat({ add: (sum, term) => roundMantissa(7)(sum + term) }),
};

/** Bugs of every matrix product; each must be found by the cases of each of the three ops. */
const bugsOf = (op: Product): Readonly<Record<string, Wrap>> => ({
  'lda ignored': called(({ transA, m, k }) => ({ lda: transA ? m : k })),
  'ldb ignored': called(({ transB, n, k }) => ({ ldb: transB ? k : n })),
  'ldc ignored': called(({ n }) => ({ ldc: n })),
  'transA ignored': called(() => ({ transA: false })),
  'transB ignored': called(() => ({ transB: false })),
  'transA and transB swapped': called(({ transA, transB }) => ({ transA: transB, transB: transA })),
  "'C' treated as 'N'": inCall(op as 'gemm', (call, run) => run(conjugateIsPlain(call))),
  'alpha ignored': called(() => ({ alpha: 1 })),
  'alpha applied to beta C too': called(({ alpha, beta }) => ({ beta: alpha * beta })),
  'beta ignored': called(() => ({ beta: 0 })),
  'beta taken for 1': called(({ beta }) => ({ beta: beta === 0 ? 0 : 1 })),
  'beta applied twice': called(({ beta }) => ({ beta: beta * beta })),
  'm and n swapped': called(({ m, n }) => ({ m: n, n: m })),
  'k rounded down to a multiple of 4': called(({ k }) => ({ k: k < 4 ? k : k - (k % 4) })),
  'terms from the 1,024th on dropped': called(({ k }) => ({ k: Math.min(k, 1024) })),
  'C read when beta is 0': followed((call, before) => {
    const c = storage(call.c, call.dtype);
    const isNaN = (x: number): boolean => Number.isNaN(call.dtype === 'f16' ? f16BitsToF32(x) : x);
    if (call.beta !== 0) return;
    visitC(
      call,
      () => true,
      (at) => {
        if (isNaN(before[at] as number)) c[at] = before[at] as number;
      },
    );
  }),
  'the last column lost when it is the first of a tile': followed((call, before) => {
    const c = storage(call.c, call.dtype);
    visitC(
      call,
      (_, column) => column === call.n - 1 && call.n > 16 && call.n % 16 === 1,
      (at) => (c[at] = before[at] as number),
    );
  }),
  'the last row of a tile of 32 wrong': followed((call) => zero(call, (row) => row % 32 === 31 && row + 1 < call.m)),
  'one element written past the end': followed(({ c, dtype }) => {
    bytesBehind(c).fill(0, 0, dtype === 'f32' ? 4 : 2);
  }),
  'the gap between rows of C written': followed((call) => {
    const c = storage(call.c, call.dtype);
    for (let row = 0; row + 1 < call.m; row++) if (call.ldc > call.n) c[row * call.ldc + call.n] = 0;
  }),
  'A used as scratch': followed(({ a, dtype }) => storage(a, dtype).fill(0, 0, 1)),
  'B used as scratch': followed(({ b, dtype, dtypeB }) => {
    if (dtypeB === undefined) storage(b, dtype).fill(0, -1);
  }),
  'k = 0 or alpha = 0 leaves C': inScale(() => {}),
  'k = 0 or alpha = 0 writes zeros': inScale((call, run) => run({ ...call, params: call.params.map(() => 0) })),
  'k = 0 or alpha = 0 writes all of C, gaps too': inScale((call, run) => {
    const [batches, m, n] = call.geometry.shape as readonly [number, number, number];
    const ldc = call.geometry.outputs[0]?.strides[1] ?? n;
    run(reshaped(call, [batches, 1, (m - 1) * ldc + n]));
  }),
  'alpha = 0 reads A': alphaZeroReadsA(op),
  'inputs rounded to bf16': inPlainProduct((call) => naiveProduct(call, { input: roundMantissa(7) })),
  'order of the sum changes from call to call': inPlainProduct((call) => {
    const add = (sum: number, term: number): number => Math.fround(sum + term);
    naiveProduct(call, { add, backwards: calls++ % 2 === 1 });
  }),
  'NaN in A counts as 0': inPlainProduct((call) => naiveProduct(call, { input: (x) => (Number.isNaN(x) ? 0 : x) })),
});

/** A scale over another shape, on the same strides. */
function reshaped(call: ResolvedRun<ArrayBuffer>, shape: readonly number[]): ResolvedRun<ArrayBuffer> {
  const { geometry } = call;
  const reshape = <T extends { readonly strides: readonly number[] }>(layout: T): T => ({
    ...layout,
    shape,
    strides: layout.strides.map((stride, axis) => (axis === 2 ? 1 : stride)),
  });
  const [inputs, outputs] = [geometry.inputs.map(reshape), geometry.outputs.map(reshape)];
  const rowCount = shape.reduce((product, size) => product * size, 1);
  return { ...call, geometry: { ...geometry, shape, rowCount, inputs, outputs } };
}

const F32_BUGS: Readonly<Record<string, Wrap>> = {
  'alpha multiplied to the terms': inPlainProduct((call) => naiveProduct(call, { round: (sum) => sum })),
  'inputs rounded to tf32': inPlainProduct((call) => naiveProduct(call, { input: roundMantissa(10) })),
  'inputs rounded to f16': inPlainProduct((call) =>
    naiveProduct(call, { input: (x) => (Math.abs(x) < 2 ** -14 ? 0 : roundMantissa(10)(x)) }),
  ),
  "beta under float32's range reads C": inCall('gemm', (call, run) => {
    const isTiny = typeof call?.beta === 'number' && call.beta !== 0 && Math.fround(call.beta) === 0;
    run(isTiny ? { ...call, beta: 2 ** -149 } : call);
  }),
  'beta -0 reads C': inCall('gemm', (call, run) =>
    run(Object.is(call?.beta, -0) ? { ...call, beta: 2 ** -149 } : call),
  ),
  'beta NaN counts as 0': called(({ beta }) => ({ beta: Number.isNaN(beta) ? 0 : beta })),
  'beta NaN counts as 0 when k is 0': inScale((call, run) => {
    run({ ...call, params: call.params.map((beta) => (Number.isNaN(beta) ? 0 : beta)) });
  }),
  'alpha NaN skips the product': called(({ alpha }) => ({ alpha: Number.isNaN(alpha) ? 0 : alpha })),
  'rows from the 65,536th on dropped': followed((call, before) => {
    const c = storage(call.c, call.dtype);
    const start = 65_535 * call.ldc;
    if (call.m > 65_535) c.set(before.subarray(start), start);
  }),
};

const BATCH_BUGS: Readonly<Record<string, Wrap>> = {
  'strideA off by one': called(({ strideA }) => ({ strideA: strideA + 1 })),
  'strideB ignored, matrices taken for packed': called(({ k, n }) => ({ strideB: k * n })),
  'strideC ignored, matrices taken for packed': called(({ m, ldc }) => ({ strideC: m * ldc })),
  'stride 0 of A not broadcast': called(({ strideA, m, k }) => ({ strideA: strideA === 0 ? m * k : strideA })),
  'stride 0 of B not broadcast': called(({ strideB, n, k }) => ({ strideB: strideB === 0 ? n * k : strideB })),
  'strideA used for B': called(({ strideA }) => ({ strideB: strideA })),
  'only the first batch': called(() => ({ batchCount: 1 })),
  'the last batch dropped': called(({ batchCount }) => ({ batchCount: Math.max(1, batchCount - 1) })),
  'batches from the 65,536th on dropped': called(({ batchCount }) => ({ batchCount: Math.min(batchCount, 65_535) })),
  'k = 0 scales the first batch only': inScale((call, run) => {
    run(reshaped(call, [1, ...call.geometry.shape.slice(1)]));
  }),
};

/** Changes what is known of the integers of B. */
const quantized = (change: (quant: CheckedQuant, call: Gemm) => Partial<CheckedQuant>): Wrap =>
  called((call) => (call.quantB === undefined ? {} : { quantB: { ...call.quantB, ...change(call.quantB, call) } }));

const packed = <T extends CheckedBlocks | undefined>(blocks: T, line: number): T =>
  blocks === undefined ? blocks : { ...blocks, strides: [0, line, 1] };

const WEIGHT_BUGS: Readonly<Record<string, Wrap>> = {
  'i4 taken for u4': called(({ dtypeB }) => (dtypeB === 'i4' ? { dtypeB: 'u4' } : {})),
  'u8 taken for i8': called(({ dtypeB }) => (dtypeB === 'u8' ? { dtypeB: 'i8' } : {})),
  'bf16 taken for f16': called(({ dtypeB }) => (dtypeB === 'bf16' ? { dtypeB: 'f16' } : {})),
  'zeros ignored': quantized(() => ({ zeros: undefined })),
  'offsets ignored': quantized(() => ({ offsets: undefined })),
  'zeros of unsigned types 0 by default': quantized(() => ({ zero: 0 })),
  'offsets added to zeros of the middle': quantized(({ offsets, zero }, { dtypeB }) => ({
    zero: offsets === undefined ? zero : dtypeB === 'u4' ? 8 : 128,
    offsets: dtypeB === 'u4' || dtypeB === 'u8' ? undefined : offsets,
  })),
  'one scale a row': quantized(() => ({ block: 2 ** 20 })),
  'blocks longer by one': quantized(({ block }) => ({ block: block + 1 })),
  'strides of scales ignored': quantized(({ scales, blocks }) => ({ scales: packed(scales, blocks) })),
  'the high half of a byte comes first': called(({ dtypeB, b }) => {
    if (dtypeB !== 'i4' && dtypeB !== 'u4') return {};
    const bytes = new Uint8Array(b.buffer, b.byteOffset, b.byteLength);
    const buffer = bytes.map((byte) => (byte >> 4) | (byte << 4)).buffer;
    return { b: { ...b, buffer, byteOffset: 0 } };
  }),
  'a short last block has the scale of the one before': called((call) => {
    const { k, n, batchCount, quantB, 'quantB.scales': scales } = call;
    if (quantB === undefined || scales === undefined || k % quantB.block === 0 || quantB.blocks < 2) return {};
    const [batch, row, block] = quantB.scales.strides;
    const own = storage(scales, quantB.scales.dtype).slice();
    for (let line = 0; line < batchCount * n; line++) {
      const at = Math.floor(line / n) * batch + (line % n) * row + (quantB.blocks - 1) * block;
      own[at] = own[at - block] as number;
    }
    return { 'quantB.scales': { ...scales, buffer: own.buffer, byteOffset: 0 } };
  }),
  '(q - zero) x overflows before the scale': followed((call) => {
    const isLarge = call.dtypeB !== undefined && call.dtype === 'f32' && storage(call.a, 'f32').some((x) => x > 1e37);
    if (isLarge) storage(call.c, 'f32').fill(Infinity);
  }),
  'strides of zeros ignored': quantized(({ zeros, blocks }) => ({ zeros: packed(zeros, blocks + (blocks % 2)) })),
};

/** Bugs of gemm, gemmF16 and batchedGemm. */
export const productMutants: readonly Mutant[] = [
  ...PRODUCTS.flatMap((op) => mutantsOf(`${op}:`, [op], bugsOf(op))),
  ...mutantsOf('gemm:', ['gemm'], F32_BUGS),
  ...mutantsOf('gemm of bf16:', ['gemm'], BF16_BUGS, /dtype=bf16/),
  ...mutantsOf('gemm with dtypeB:', ['gemm'], WEIGHT_BUGS, /dtypeB=/),
  ...mutantsOf('batchedGemm:', ['batchedGemm'], BATCH_BUGS),
];
