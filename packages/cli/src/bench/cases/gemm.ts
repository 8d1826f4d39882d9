import type { BatchedGemmShape, FloatDType, GemmShape } from '@concord/backend-core';
import { gemmReference } from '@concord/backend-cpu/reference';
import type { BenchCase, ExpectedEntry } from '../bench-case.ts';
import { bytesOf, elements, type Operand, operand } from '../operand.ts';

/** The storage of a product. Default: row-major and packed, in f32. */
export interface GemmOptions {
  /** A is stored k x m. */
  readonly transA?: 'T' | undefined;
  /** B is stored n x k, as weights often are. */
  readonly transB?: 'T' | undefined;
  /** Elements between the rows of A and those of B. */
  readonly padding?: number;
  /** Of all matrices; sums are in f32. */
  readonly dtype?: FloatDType;
}

/** `C = A B`. */
export function gemmCase(
  origin: string,
  text: string,
  m: number,
  n: number,
  k: number,
  options: GemmOptions = {},
): BenchCase {
  const op = options.dtype === 'f16' ? 'gemmF16' : 'gemm';
  const sizes = sizesOf({ m, n, k }, 1, options);
  return {
    ...describe(op, origin, text, sizes),
    prepare: () => ({
      ...operands(sizes),
      plan: { op, call: sizes.shape },
      call: (backend, at, c) => backend[op]({ ...sizes.shape, a: at(0), b: at(1), c }),
    }),
  };
}

/** As many products of one shape, each packed and after the other. */
export function batchedGemmCase(
  origin: string,
  text: string,
  count: number,
  { m, n, k, transB }: GemmSize & Pick<GemmOptions, 'transB'>,
): BenchCase {
  const sizes = sizesOf({ m, n, k }, count, { transB });
  const strides = { strideA: m * k, strideB: k * n, strideC: m * n };
  const shape: BatchedGemmShape = { ...sizes.shape, ...strides, batchCount: count };
  return {
    ...describe('batchedGemm', origin, text, sizes),
    prepare: () => ({
      ...operands(sizes),
      plan: { op: 'batchedGemm', call: shape },
      call: (backend, at, c) => backend.batchedGemm({ ...shape, a: at(0), b: at(1), c }),
    }),
  };
}

/** The sizes of a product. */
export type GemmSize = Pick<GemmShape, 'm' | 'n' | 'k'>;

/** `count` products: their shape, type and layout. */
interface Sizes {
  readonly shape: GemmShape;
  readonly count: number;
  readonly dtype: FloatDType;
  /** Elements from a row of A and of B as they are stored to the next. */
  readonly lda: number;
  readonly ldb: number;
  /** Elements of each A and each B. */
  readonly a: number;
  readonly b: number;
}

function sizesOf(
  { m, n, k }: GemmSize,
  count: number,
  { transA, transB, padding = 0, dtype = 'f32' }: GemmOptions,
): Sizes {
  const [rowsA, lda] = transA === 'T' ? [k, m + padding] : [m, k + padding];
  const [rowsB, ldb] = transB === 'T' ? [n, k + padding] : [k, n + padding];
  const shape: GemmShape = {
    m,
    n,
    k,
    ...(transA && { transA }),
    ...(transB && { transB }),
    ...(padding && { lda, ldb }),
  };
  return { shape, count, dtype, lda, ldb, a: rowsA * lda, b: rowsB * ldb };
}

function describe(
  op: 'gemm' | 'gemmF16' | 'batchedGemm',
  origin: string,
  text: string,
  { shape, count, dtype, a, b }: Sizes,
): Omit<BenchCase, 'prepare'> {
  const { m, n, k, transA = 'N', transB = 'N', lda } = shape;
  const layout = transA === 'N' && transB === 'N' ? '' : `-${String(transA)}${String(transB)}`;
  const size = `${count > 1 ? `${count}x` : ''}${m}x${n}x${k}${layout}${lda === undefined ? '' : '-gaps'}`;
  return {
    ...{ id: `${op}/${origin}/${size}`, op, title: text, unit: 'GFLOP/s' },
    flops: 2 * count * m * n * k,
    bytes: count * (a + b + m * n) * bytesOf(dtype),
  };
}

function operands(sizes: Sizes): {
  inputs: readonly Operand[];
  outputLength: number;
  outputDtype: FloatDType;
  expected: (index: number) => ExpectedEntry;
} {
  const { shape, count, dtype, lda, ldb } = sizes;
  const { m, n, k, transA, transB } = shape;
  const a = operand(count * sizes.a, 1, { dtype });
  const b = operand(count * sizes.b, 2, { dtype });
  return {
    inputs: [a, b],
    outputLength: count * m * n,
    outputDtype: dtype,
    expected(index) {
      const batch = Math.floor(index / (m * n));
      const [row, column] = [Math.floor(index / n) % m, index % n];
      const [firstA, stepA] = transA === undefined ? [row * lda, 1] : [row, lda];
      const [firstB, stepB] = transB === undefined ? [column, ldb] : [column * ldb, 1];
      const left = elements(a, batch * sizes.a + firstA, k, stepA);
      const right = elements(b, batch * sizes.b + firstB, k, stepB);
      const { value, magnitude } = gemmReference({ m: 1, n: 1, k }, left, right);
      const want = value[0] as number;
      return { want, tolerance: SUM_TOLERANCE * (magnitude[0] as number) + storageError(want, dtype) };
    },
  };
}

/**
 * The tolerance of a float32 sum of products, relative to the sum of their magnitudes: far above what roundings in any order
 * give, and below what inputs of fewer bits do, such as TF32.
 */
export const SUM_TOLERANCE = 1e-5;

function storageError(value: number, dtype: FloatDType): number {
  return dtype === 'f16' ? 2 ** -10 * Math.abs(value) + 2 ** -24 : 0;
}
