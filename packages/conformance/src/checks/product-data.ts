import type { BatchedGemmShape, FloatDType, StoredFloatDType, Transpose, WeightDType } from '@concord/backend-core';
import { quantShape, type Weights } from './product-weights.ts';

/** Parameters of products, with the value that each has where an id leaves it out. */
export const PRODUCT_DEFAULTS = {
  m: 1,
  n: 1,
  k: 1,
  trans: 'NN',
  alpha: 1,
  beta: 0,
  /** Elements that the leading dimension exceeds the stored row by. */
  padA: 0,
  padB: 0,
  padC: 0,
  /** Bytes that each operand is moved off the alignment of its allocation. */
  offset: 0,
  together: false,
  dtype: 'f32' as StoredFloatDType,
  /** Storage of B; `same`: `dtype`. */
  dtypeB: 'same',
  /** The block of integers: `quantB`. */
  block: 32,
  scales: 'f32' as FloatDType,
  /** Storage of the zeros, `own`: that of B; or `none`, or `offsets`. */
  zeros: 'none',
  /** The layout of the numbers of blocks. */
  blocksView: 'packed',
  batch: 1,
  /** `packed`, or the number of elements between batches; `0` broadcasts. */
  strideA: 'packed',
  strideB: 'packed',
  /** Elements between the end of one C and the start of the next. */
  gapC: 0,
  /** The rows of all C one after the other, the first of each first: `ldc` covers a row of every one. */
  interleaved: false,
  /** Name of the epilogue's kernel; where empty there is none. */
  epilogue: '',
  /** The layout of the inputs of the epilogue. */
  view: 'dense',
  /** Storage of the inputs of the epilogue; `own` is that of their type. */
  stored: 'own',
  /** Told apart only by the random numbers. */
  seed: 0,
};

/** Parameters of products. */
export type ProductParams = Readonly<typeof PRODUCT_DEFAULTS>;

/** Host values of the three operands, gaps between rows filled with NaN. */
export interface ProductData {
  readonly shape: BatchedGemmShape;
  readonly a: Float64Array;
  readonly b: Float64Array;
  readonly c: Float64Array;
  /** |b|, or what a bound counts for it. Default: that. */
  readonly magnitudeB?: Float64Array;
  /** There where B has integers. */
  readonly weights?: Weights;
}

/** Draws element (row, column) of op(A), op(B) or C. */
export type Draw = (row: number, column: number) => number;

/** alpha and beta are rounded to float32 before anything is made of them. */
export const isZero = (scalar: number): boolean => Math.fround(scalar) === 0;

/** The call of a case, without its pointers. */
export function productShape(params: ProductParams): BatchedGemmShape {
  const { m, n, k, batch, trans } = params;
  const [transA, transB] = [trans[0], trans[1]] as [Transpose, Transpose];
  const [rowsA, columnsA] = transA === 'N' ? [m, k] : [k, m];
  const [rowsB, columnsB] = transB === 'N' ? [k, n] : [n, k];
  const lda = columnsA + params.padA;
  const isNibble = params.dtypeB === 'i4' || params.dtypeB === 'u4';
  const even = (count: number): number => (isNibble ? 2 * Math.ceil(count / 2) : count);
  const ldb = even(columnsB + params.padB);
  const ldc = (params.interleaved ? batch * n : n) + params.padC;
  const extent = (rows: number, columns: number, stride: number): number =>
    rows * columns === 0 ? 0 : (rows - 1) * stride + columns;
  const stride = (text: string, packed: number): number => (text === 'packed' ? packed : Number(text));
  const { alpha, beta, dtype } = params;
  const strideA = stride(params.strideA, extent(rowsA, columnsA, lda));
  const strideB = even(stride(params.strideB, extent(rowsB, columnsB, ldb)));
  const strideC = params.interleaved ? n : extent(m, n, ldc) + params.gapC;
  const own = params.dtypeB === 'same' ? {} : { dtypeB: params.dtypeB as WeightDType, ...quantShape(params) };
  const strides = { lda, ldb, ldc, strideA, strideB, strideC };
  return { m, n, k, transA, transB, alpha, beta, ...strides, batchCount: batch, dtype, ...own };
}

/** Draws the operands of a case. */
export function makeData(params: ProductParams, drawA: Draw, drawB: Draw, drawC: Draw): ProductData {
  const shape = productShape(params);
  const { m, n, k, lda = 0, ldb = 0, ldc = 0, strideA, strideB, strideC, batchCount } = shape;
  const matrix = (
    rows: number,
    columns: number,
    ld: number,
    stride: number,
    swap: boolean,
    draw: Draw,
  ): Float64Array => {
    const [storedRows, storedColumns] = swap ? [columns, rows] : [rows, columns];
    const extent = rows * columns === 0 ? 0 : (storedRows - 1) * ld + storedColumns;
    const data = new Float64Array(extent === 0 ? 0 : (batchCount - 1) * stride + extent).fill(Number.NaN);
    for (let batch = 0; batch < (stride === 0 ? 1 : batchCount); batch++) {
      for (let row = 0; row < rows; row++) {
        for (let column = 0; column < columns; column++) {
          data[batch * stride + (swap ? column * ld + row : row * ld + column)] = draw(row, column);
        }
      }
    }
    return data;
  };
  return {
    shape,
    a: matrix(m, k, lda, strideA, shape.transA !== 'N', drawA),
    b: matrix(k, n, ldb, strideB, shape.transB !== 'N', drawB),
    c: matrix(m, n, ldc, strideC, false, drawC),
  };
}
