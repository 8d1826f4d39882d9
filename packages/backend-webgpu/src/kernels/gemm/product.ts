import type { FloatDType } from '@concord/backend-core';
import { BYTES_OF, type ResolvedGemm } from '@concord/backend-core/implement';
import {
  type KernelTable as AnyTable,
  type NamedVariant,
  type VariantTable,
  type Weights,
  weightsOf,
} from '@concord/variants';
import type { FusedEpilogue } from '../epilogue/fused-epilogue.ts';
import { type DeviceTraits, maxLoopIterations, type Recorder, type Span, type StorageBuffer } from '../recorder.ts';
import { apartFrom, bindable, bindingSlack, slice } from '../operands.ts';
import type { Kernel } from '../kernel.ts';

/** A batch of stored matrices: row r of matrix b begins at element `b * stride + r * ld` of the span. */
export interface Matrix {
  readonly span: Span;
  readonly dtype: FloatDType;
  readonly ld: number;
  readonly stride: number;
}

/**
 * `C = alpha * op(A) * op(B) + beta * C` for a batch, with k > 0. Unlike in a call, C may have its own dtype. The
 * leading dimension of a single row is the row's length, and the stride of a single matrix is 0: both may be
 * anything in a call.
 */
export interface Product {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batchCount: number;
  readonly transA: boolean;
  readonly transB: boolean;
  /** float32 */
  readonly alpha: number;
  /** float32 */
  readonly beta: number;
  readonly a: Matrix;
  readonly b: Matrix;
  /** B where it is of a type of its own, which takes the place of `b`. */
  readonly weights?: Weights<StorageBuffer> | undefined;
  readonly c: Matrix;
  /** Something is made of each value of C, by the kernel that stores it or after it. */
  readonly hasEpilogue?: boolean | undefined;
  /** The operation on each value of C in the kernel that stores it. */
  readonly epilogue?: FusedEpilogue | undefined;
}

/** Returns whether one of the operands is a vector, as C is then: it has one row or one column. */
export function isVector({ m, n }: Pick<Product, 'm' | 'n'>): boolean {
  return m === 1 || n === 1;
}

/** The start and the size of a part of a product. */
export interface Part {
  readonly batch: number;
  readonly row: number;
  readonly column: number;
  /** Place along k. */
  readonly depth: number;
  readonly batchCount: number;
  readonly m: number;
  readonly n: number;
  readonly k: number;
}

/** The product that a call means; inputs in C's buffer are copied out of it first. */
export function productOf(call: ResolvedGemm<StorageBuffer>, recorder: Recorder): Product {
  const { m, n, k, batchCount, transA, transB, alpha, beta } = call;
  // One of bf16 is made one of float32 before.
  const dtype = call.dtype as FloatDType;
  const a = apartFrom(call.c, call.a, recorder);
  const weights = weightsOf(call);
  const b = weights === undefined ? apartFrom(call.c, call.b, recorder) : call.b;
  return tidy({
    m,
    n,
    k,
    batchCount,
    transA,
    transB,
    alpha,
    beta,
    a: { span: a, dtype, ld: call.lda, stride: call.strideA },
    b: { span: b, dtype, ld: call.ldb, stride: call.strideB },
    weights,
    c: { span: call.c, dtype, ld: call.ldc, stride: call.strideC },
  });
}

/** The same product of a part of each operand. */
export function partOf(product: Product, part: Part): Product {
  const { transA, transB, a, b, c } = product;
  const { row, column, depth, m, n, k } = part;
  return tidy({
    ...product,
    m,
    n,
    k,
    batchCount: part.batchCount,
    a: transA ? partOfMatrix(a, part, depth, row, k, m) : partOfMatrix(a, part, row, depth, m, k),
    b: transB ? partOfMatrix(b, part, column, depth, n, k) : partOfMatrix(b, part, depth, column, k, n),
    c: partOfMatrix(c, part, row, column, m, n),
  });
}

/** Some rows and columns, as stored, of some matrices of a batch. */
function partOfMatrix(
  matrix: Matrix,
  { batch, batchCount }: Pick<Part, 'batch' | 'batchCount'>,
  row: number,
  column: number,
  rows: number,
  columns: number,
): Matrix {
  const { dtype, ld, stride, span } = matrix;
  const bytes = BYTES_OF[dtype];
  const start = batch * stride + row * ld + column;
  const extent = (batchCount - 1) * stride + (rows - 1) * ld + columns;
  return { ...matrix, span: slice(span, start * bytes, extent * bytes) };
}

function tidy(product: Product): Product {
  const { m, n, k, batchCount, transA, transB, a, b, c } = product;
  const matrix = (given: Matrix, rows: number, columns: number): Matrix => ({
    ...given,
    ld: rows === 1 ? columns : given.ld,
    stride: batchCount === 1 ? 0 : given.stride,
  });
  return {
    ...product,
    a: transA ? matrix(a, k, m) : matrix(a, m, k),
    b: transB ? matrix(b, n, k) : matrix(b, k, n),
    c: matrix(c, m, n),
  };
}

/** A matrix as a kernel gets it. */
interface BoundMatrix {
  readonly span: Span;
  /** Elements from the start of the binding to the first one. */
  readonly start: number;
}

/** Binds a matrix. */
export function bindMatrix({ span, dtype }: Matrix, storageAlignment: number): BoundMatrix {
  const bound = bindable(span, storageAlignment);
  return { span: bound.span, start: bound.byteOffset / BYTES_OF[dtype] };
}

/** The maximum number of bytes of a panel's operand. */
export function bytesOfPanel({ maxBindingBytes, storageAlignment }: DeviceTraits): number {
  return maxBindingBytes - bindingSlack(storageAlignment);
}

/**
 * Scratch memory that is worth its while, in bytes: a quarter of what the pool keeps by default. With 234 MB in each, the layers
 * of Llama-3.1-8B did not fit, and a prompt took five times as long.
 */
export const MAX_SCRATCH_BYTES: number = 2 ** 27;

/** The maximum number of terms of a sum in one launch: a kernel may take an iteration of its loop for each, and one to end it. */
export function mostTerms(traits: DeviceTraits): number {
  const iterations = maxLoopIterations(traits) - 1;
  return iterations === Infinity ? iterations : roundDown(iterations);
}

/** Rounds down so that panels keep the alignment of their operands. */
export function roundDown(size: number): number {
  const multiple = [64, 4].find((candidate) => size >= candidate) ?? 1;
  return size - (size % multiple);
}

/** Returns whether numbers of elements are all multiples of four: what lies between them can be read and written by fours. */
export function areFours(...elements: readonly number[]): boolean {
  return elements.every((count) => count % 4 === 0);
}

/** Kernels without a choice. */
export type KernelTable = AnyTable<DeviceTraits, Kernel>;

/** A product as variants are chosen for it. */
export interface OfferedProduct {
  readonly product: Product;
  /** Terms that are worked on at a time. */
  readonly depth: number;
}

/** A product whose operands fit into bindings and whose C is stored as it can be written. */
export interface ProductWork {
  readonly product: Product;
  readonly splits: Splits;
}

/** Kernels that compute products: all that the backend knows of them. */
export interface ProductTable extends VariantTable<OfferedProduct, ProductWork, Recorder, Kernel, Variant> {
  /** Returns whether the kernel of a variant applies the epilogue of a product that has one. Default: it does not. */
  readonly appliesEpilogues?: (variant: Variant) => boolean;
}

/** A variant of a table, and into how many ranges k should be split. */
export interface Variant extends NamedVariant {
  readonly splits: number;
}

/** A product whose results for each range of k go beside each other: C of split s begins `s * stride` elements on. */
export interface Splits {
  /** Terms of a range; a multiple of 4 and of the tile's step. */
  readonly depth: number;
  readonly count: number;
  readonly stride: number;
}
