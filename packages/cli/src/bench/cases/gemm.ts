import {
  type BatchedGemmShape,
  type FloatDType,
  fromF16Array,
  type GemmShape,
  toF16Array,
} from '@concord/backend-core';
import { gemmReference } from '@concord/backend-cpu/reference';
import type { BenchCase, BenchInput, ExpectedEntry } from '../bench-case.ts';
import { noise } from '../noise.ts';

/** `C = A B` in float32; with `transB` B is stored n x k, as weights often are. */
export function gemmCase(origin: string, text: string, m: number, n: number, k: number, transB = false): BenchCase {
  const shape: GemmShape = { m, n, k, ...(transB ? { transB: 'T' } : {}) };
  return {
    ...describe('gemm', origin, text, shape),
    prepare: () => ({
      ...operands(shape, 'f32'),
      plan: { op: 'gemm', call: shape },
      call: (backend, operand, c) => backend.gemm({ ...shape, a: operand(0), b: operand(1), c }),
    }),
  };
}

/** The same with float16 storage and float32 accumulation. */
export function gemmF16Case(origin: string, text: string, m: number, n: number, k: number): BenchCase {
  const shape: GemmShape = { m, n, k };
  return {
    ...describe('gemmF16', origin, text, shape),
    prepare: () => ({
      ...operands(shape, 'f16'),
      plan: { op: 'gemmF16', call: shape },
      call: (backend, operand, c) => backend.gemmF16({ ...shape, a: operand(0), b: operand(1), c }),
    }),
  };
}

/** As many products of one shape, packed behind each other; B is stored n x k. */
export function batchedGemmCase(origin: string, text: string, count: number, size: GemmSize): BenchCase {
  const { m, n, k } = size;
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const shape: BatchedGemmShape = { ...size, transB: 'T', ...strides, batchCount: count };
  return {
    ...describe('batchedGemm', origin, text, shape, count),
    prepare: () => ({
      ...operands(shape, 'f32', count),
      plan: { op: 'batchedGemm', call: shape },
      call: (backend, operand, c) => backend.batchedGemm({ ...shape, a: operand(0), b: operand(1), c }),
    }),
  };
}

type GemmSize = Pick<GemmShape, 'm' | 'n' | 'k'>;

function describe(
  op: 'gemm' | 'gemmF16' | 'batchedGemm',
  origin: string,
  text: string,
  { m, n, k, transB }: GemmShape,
  count = 1,
): Omit<BenchCase, 'prepare'> {
  const times = count > 1 ? `${count}x` : '';
  const size = `${times}${m}x${n}x${k}${transB === undefined ? '' : '-NT'}`;
  return {
    ...{ id: `${op}/${origin}/${size}`, op, title: text, unit: 'GFLOP/s' },
    flops: 2 * count * m * n * k,
    bytes: count * (m * k + k * n + m * n) * (op === 'gemmF16' ? 2 : 4),
  };
}

function operands(
  shape: GemmShape,
  dtype: FloatDType,
  count = 1,
): {
  inputs: BenchInput[];
  outputLength: number;
  outputDtype: FloatDType;
  expected: (index: number) => ExpectedEntry;
} {
  const { m, n, k, transB } = shape;
  const a = rounded(noise(count * m * k, 1), dtype);
  const b = rounded(noise(count * k * n, 2), dtype);
  return {
    inputs: [a, b].map((values) => ({ values, dtype })),
    outputLength: count * m * n,
    outputDtype: dtype,
    expected(index) {
      const batch = Math.floor(index / (m * n));
      const row = Math.floor(index / n) % m;
      const column = index % n;
      const one = { m: 1, n: 1, k, ...(transB === undefined ? { ldb: n } : { transB }) };
      const starts = { a: (batch * m + row) * k, b: batch * k * n + (transB === undefined ? column : column * k) };
      const { value, magnitude } = gemmReference(one, a, b, [], starts);
      const want = value[0] as number;
      return { want, tolerance: (k + 3) * 2 ** -23 * (magnitude[0] as number) + storageError(want, dtype) };
    },
  };
}

/** What is left of numbers in the storage of the operands: both sides shall start from the same ones. */
function rounded(values: Float32Array, dtype: FloatDType): Float32Array {
  return dtype === 'f16' ? fromF16Array(toF16Array(values)) : values;
}

function storageError(value: number, dtype: FloatDType): number {
  return dtype === 'f16' ? 2 ** -10 * Math.abs(value) + 2 ** -24 : 0;
}
