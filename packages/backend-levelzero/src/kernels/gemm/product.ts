import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF, type ResolvedGemm } from '@concord/backend-core/implement';
import { type Weights, weightsOf } from '@concord/variants';
import { cuts } from '../work.ts';
import type { DeviceMemory, Span } from '../recorder.ts';

/** A batch of stored matrices: row r of matrix b begins at element `b * stride + r * ld` of the span. */
export interface Matrix {
  readonly span: Span;
  readonly dtype: FloatDType;
  readonly ld: number;
  readonly stride: number;
}

/** Sizes of a product, and which operands are transposed: what the choice of a kernel depends on besides the device. */
export interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batchCount: number;
  readonly transA: boolean;
  readonly transB: boolean;
}

/**
 * `C = alpha * op(A) * op(B) + beta * C` for a batch, with k > 0. Unlike in a call, C may have its own dtype, and
 * the leading dimension of a single row is the row's length, and the stride of a single matrix 0: both may be anything
 * in a call.
 */
export interface Product extends ProductShape {
  /** float32 */
  readonly alpha: number;
  /** float32 */
  readonly beta: number;
  readonly a: Matrix;
  readonly b: Matrix;
  /** B where it is of a type of its own, which takes the place of `b`. */
  readonly weights?: Weights<DeviceMemory> | undefined;
  readonly c: Matrix;
}

/** The product that a call means. */
export function productOf(call: ResolvedGemm<DeviceMemory>): Product {
  const { m, n, k, batchCount, transA, transB, alpha, beta } = call;
  // One of bf16 is made one of float32 before.
  const dtype = call.dtype as FloatDType;
  const matrix = (span: Span, rows: number, columns: number, ld: number, stride: number): Matrix => ({
    span,
    dtype,
    ld: rows === 1 ? columns : ld,
    stride: batchCount === 1 ? 0 : stride,
  });
  const [rowsA, columnsA] = transA ? [k, m] : [m, k];
  const [rowsB, columnsB] = transB ? [n, k] : [k, n];
  return {
    ...{ m, n, k, batchCount, transA, transB, alpha, beta },
    a: matrix(call.a, rowsA, columnsA, call.lda, call.strideA),
    b: matrix(call.b, rowsB, columnsB, call.ldb, call.strideB),
    weights: weightsOf(call),
    c: matrix(call.c, m, n, call.ldc, call.strideC),
  };
}

/** Arithmetic of a product. */
export const multiplyAddsOf = ({ m, n, k, batchCount }: ProductShape): number => m * n * k * batchCount;

/** The matrices from element `elements` of the span on: another first row, column or batch. */
export function shifted(matrix: Matrix, elements: number): Matrix {
  const { span, dtype } = matrix;
  const bytes = elements * BYTES_OF[dtype];
  const rest = { ...span, byteOffset: span.byteOffset + bytes, byteLength: span.byteLength - bytes };
  return { ...matrix, span: rest };
}

/** Elements between neighbouring lines of an operand (rows of op(A), columns of op(B)), and between its terms. */
export interface Steps {
  readonly line: number;
  readonly term: number;
}

export function stepsOfA({ transA, a }: Pick<Product, 'transA' | 'a'>): Steps {
  return transA ? { line: 1, term: a.ld } : { line: a.ld, term: 1 };
}

export function stepsOfB({ transB, b }: Pick<Product, 'transB' | 'b'>): Steps {
  return transB ? { line: b.ld, term: 1 } : { line: 1, term: b.ld };
}

/** Some rows and columns of C, of some matrices of a batch. */
export interface Part {
  readonly batch: number;
  readonly batchCount: number;
  readonly row: number;
  readonly m: number;
  readonly column: number;
  readonly n: number;
}

/** The product that gives a part of C. */
export function partOf(product: Product, { batch, batchCount, row, m, column, n }: Part): Product {
  const { a, b, c } = product;
  return {
    ...{ ...product, batchCount, m, n },
    a: shifted(a, batch * a.stride + row * stepsOfA(product).line),
    b: shifted(b, batch * b.stride + column * stepsOfB(product).line),
    c: shifted(c, batch * c.stride + row * c.ld + column),
  };
}

/** The parts of C of a maximal number of matrices, rows and columns, and where there are several, of a minimal number. */
export function* parts(
  whole: ProductShape,
  { batchCount, m, n }: Pick<ProductShape, 'batchCount' | 'm' | 'n'>,
  least: Pick<ProductShape, 'm' | 'n'> = { m: 1, n: 1 },
): Generator<Part> {
  for (const [batch, batches] of cuts(whole.batchCount, batchCount)) {
    for (const [column, columns] of cuts(whole.n, n, least.n)) {
      for (const [row, rows] of cuts(whole.m, m, least.m)) {
        yield { batch, batchCount: batches, row, m: rows, column, n: columns };
      }
    }
  }
}
