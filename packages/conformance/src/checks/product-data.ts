import type { BatchedGemmShape, FloatDType, StoredFloatDType, Transpose, WeightDType } from '@concord/backend-core';
import { type BoundText, type CheckTexts, repeat, UNTOUCHED } from '../harness/case.ts';
import { gamma, GAMMA_FORMULA, PRODUCT_FORMULA } from './compare.ts';
import { quantShape, type Weights } from './product-weights.ts';

const EXACTLY = `Every element of C has exactly the reference's value, rounded once to the format. ${UNTOUCHED}`;

const EPILOGUE = `Every element of C is what the kernel may give for a product within its bound, rounded once. ${UNTOUCHED}`;

function bound({ k: terms, alpha, beta, dtype, dtypeB }: ProductParams, times = ''): BoundText {
  const isMixed = dtypeB !== 'same';
  const narrowed = isMixed && dtype === 'f16' ? ' + |alpha| 2^-11 sum|a|max(|b|, 2^-14)' : '';
  const rounding = { f32: '', f16: `${narrowed} + 1 ulp of binary16`, bf16: ' + 1 ulp of bfloat16' }[dtype];
  // One more for each element of B.
  const k = terms + Number(isMixed);
  return {
    formula: `${times}${PRODUCT_FORMULA}${rounding}`,
    where: { k, alpha, beta, 'gamma(k+3)': gamma(k + 3), 'gamma(3)': gamma(3), gamma: GAMMA_FORMULA },
  };
}

/** The words of the checks that gemm, gemmF16 and batchedGemm share. */
export const PRODUCT_TEXTS: CheckTexts<ProductParams> = {
  exact: ({ k, dtype }) => ({
    does: 'Multiplies matrices of small integers. Every order of summation gives the same bits, so a wrong index shows.',
    inputs: `integers from -${largest(k, dtype)} to ${largest(k, dtype)}; NaN in the gaps between rows`,
    kind: 'exact',
    passes: EXACTLY,
  }),
  'exact-wide': () => ({
    does: 'Multiplies full mantissas by at most one power of two per sum, which moves them about: a device that rounds its inputs to tf32 or f16 loses bits.',
    inputs: 'one operand (the seed says which) with all bits of the mantissa in use, the other 0.5, 1, 2, -1 or 0',
    kind: 'exact-wide',
    passes: EXACTLY,
  }),
  bounded: (params) => ({
    does: 'Multiplies random matrices and compares with float64.',
    inputs: 'uniform in [-1, 1), one in ten times 16',
    kind: 'bounded',
    passes: `Every element of C is within the bound. ${UNTOUCHED}`,
    bound: bound(params),
  }),
  specials: () => ({
    does: 'Puts NaN and infinities among small integers: they must go where arithmetic sends them, and only there. With alpha 0 nothing of A and B may be seen, with beta 0 nothing of C.',
    inputs: 'integers from -3 to 3, few NaN and infinities; with alpha 0 half of A and B, with beta 0 all of C',
    kind: 'exact',
    passes: EXACTLY,
  }),
  'minus-zero': () => ({
    does: 'As the check specials, with -0 for every alpha and beta of 0: it is 0 all the same.',
    inputs: 'integers from -3 to 3, few NaN and infinities; with alpha 0 half of A and B, with beta 0 all of C',
    kind: 'exact',
    passes: EXACTLY,
  }),
  scalars: () => ({
    does: 'Multiplies with an infinite or NaN alpha or beta. The terms of a sum have one sign or are all 0, so it does not matter whether alpha is multiplied to the terms or to their sum.',
    inputs: 'A: integers of one sign in a row; B: integers from 1 to 8; C: integers from -2 to 2',
    kind: 'exact',
    passes: EXACTLY,
  }),
  overflow: () => ({
    does: 'Sums that are beyond float32: they are infinite before alpha is multiplied to them, also where the product would be back in range.',
    inputs: 'A: rows of 3e38, -3e38 or a small integer; B: 1; C: integers from -2 to 2',
    kind: 'exact',
    passes: EXACTLY,
  }),
  large: (params) => ({
    does: 'Multiplies numbers so large that their product with an integer weight is beyond float32 before its scale, and in range after it.',
    inputs: 'A: from 1.5e37 to 3e37, either sign; B: integers with scales of about 0.001',
    kind: 'bounded',
    passes: `Every element of C is within the bound. ${UNTOUCHED}`,
    bound: bound(params),
  }),
  epilogue: () => ({
    does: 'Multiplies matrices of integers whose sums binary16 does not hold, and lets a kernel make C of them.',
    inputs: 'integers from -60 to 60; from -8 to 8 where k is above 200, and in the inputs of the epilogue',
    kind: 'exact',
    passes: EPILOGUE,
  }),
  'epilogue-bounded': (params) => ({
    does: 'Multiplies random matrices and lets a kernel make C of the product.',
    inputs: 'uniform in [-1, 1)',
    kind: 'bounded',
    passes: EPILOGUE,
    bound: bound({ ...params, dtype: 'f32' }),
  }),
  'epilogue-specials': () => ({
    does: 'Multiplies with few NaN and infinities, and lets a kernel make C of the product.',
    inputs: 'integers from -3 to 3, few NaN and infinities',
    kind: 'exact',
    passes: EPILOGUE,
  }),
  repeat,
  transposed: (params) => ({
    does: 'Computes AB and, from the operands exchanged and transposed, B^T A^T.',
    inputs: 'uniform in [-1, 1)',
    kind: 'property',
    passes: `(AB)^T equals B^T A^T within twice the bound. ${UNTOUCHED}`,
    bound: bound(params, '2 times '),
  }),
};

/** The words of the check that only batchedGemm has. */
export const LOOPED_TEXTS: CheckTexts<ProductParams> = {
  looped: (params) => ({
    does: 'Computes one batched product, and the same products one by one with gemm.',
    inputs: 'uniform in [-1, 1)',
    kind: 'property',
    passes: `Batched equals looped within twice the bound. ${UNTOUCHED}`,
    bound: bound(params, '2 times '),
  }),
};

/** The words of the checks that only gemmF16 has. */
export const F16_TEXTS: CheckTexts<ProductParams> = {
  rounding: () => ({
    does: 'Sums that float32 holds and binary16 must round: ties, the limit of overflow, subnormals, small terms that rounding at every step would lose.',
    inputs: 'a row a sum, times ones',
    kind: 'fixed values',
    passes: `Every sum is rounded once, to nearest even; from 65520 on it is infinite. ${UNTOUCHED}`,
  }),
  'every-value': () => ({
    does: 'Sends each of the 65,536 binary16 values through a product with 1.',
    inputs: 'every pattern of 16 bits',
    kind: 'exact',
    passes: `Every value comes out as it went in, subnormals too; NaN stays NaN. ${UNTOUCHED}`,
  }),
};

/** Sums of k products stay exact: below 2^24 in float32, 2^11 in binary16. */
function largest(k: number, dtype: string): number {
  return dtype === 'f16' ? (k > 200 ? 1 : 3) : 8;
}

/** Parameters of gemm, gemmF16 and batchedGemm. */
export type ProductParams = {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly trans: string;
  readonly alpha: number;
  readonly beta: number;
  /** Elements that the leading dimension exceeds the stored row by. */
  readonly padA: number;
  readonly padB: number;
  readonly padC: number;
  /** Bytes that each operand is moved off the alignment of its allocation. */
  readonly offset: number;
  readonly together: boolean;
  readonly dtype: StoredFloatDType;
  /** Storage of B; `same`: `dtype`. */
  readonly dtypeB: string;
  /** The block of integers: `quantB`. */
  readonly block: number;
  readonly scales: FloatDType;
  /** Storage of the zeros, `own`: that of B; or `none`, or `offsets`. */
  readonly zeros: string;
  /** The layout of the numbers of blocks. */
  readonly blocksView: string;
  readonly batch: number;
  /** `packed`, or the number of elements between batches; `0` broadcasts. */
  readonly strideA: string;
  readonly strideB: string;
  /** Elements between the end of one C and the start of the next. */
  readonly gapC: number;
  /** The rows of all C one after the other, the first of each first: `ldc` covers a row of every one. */
  readonly interleaved: boolean;
  /** Name of the epilogue's kernel; where empty there is none. */
  readonly epilogue: string;
  /** The layout of the inputs of the epilogue. */
  readonly view: string;
  /** Storage of the inputs of the epilogue; `own` is that of their type. */
  readonly stored: string;
  /** Told apart only by the random numbers. */
  readonly seed: number;
};

export const PRODUCT_DEFAULTS: ProductParams = {
  m: 1,
  n: 1,
  k: 1,
  trans: 'NN',
  alpha: 1,
  beta: 0,
  padA: 0,
  padB: 0,
  padC: 0,
  offset: 0,
  together: false,
  dtype: 'f32',
  dtypeB: 'same',
  block: 32,
  scales: 'f32',
  zeros: 'none',
  blocksView: 'packed',
  batch: 1,
  strideA: 'packed',
  strideB: 'packed',
  gapC: 0,
  interleaved: false,
  epilogue: '',
  view: 'dense',
  stored: 'own',
  seed: 0,
};

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
