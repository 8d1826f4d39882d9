import { invalid } from '../../errors/invalid.ts';
import type { DType } from '../capabilities.ts';
import {
  type CheckedCall,
  checkDType,
  checkedExtent,
  checkFloat32,
  checkOneOf,
  checkSize,
  matrixExtent,
} from '../checks.ts';
import type { BatchedGemmShape } from './batched-gemm.ts';
import type { GemmShape, Transpose } from './gemm.ts';

/** A gemm with its defaults filled in. A plain gemm is a batch of one. */
export interface CheckedGemm extends CheckedCall {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly transA: boolean;
  readonly transB: boolean;
  /** float32 */
  readonly alpha: number;
  /** float32 */
  readonly beta: number;
  readonly lda: number;
  readonly ldb: number;
  readonly ldc: number;
  readonly strideA: number;
  readonly strideB: number;
  readonly strideC: number;
  readonly batchCount: number;
}

const TRANSPOSES: readonly Transpose[] = ['N', 'T', 'C'];
/** The batch of a plain gemm. */
const SINGLE = { strideA: 0, strideB: 0, strideC: 0, batchCount: 1 };

/**
 * The rules of `gemm`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkGemm(shape: GemmShape, outputIsNull: boolean): CheckedGemm | null {
  return checkBatch(shape, SINGLE, outputIsNull);
}

/** The rules of `gemmF16`: those of gemm with `dtype: 'f16'`. */
export function checkGemmF16(shape: GemmShape, outputIsNull: boolean): CheckedGemm | null {
  if (checkDType(shape.dtype, 'f16') !== 'f16') throw invalid(`gemmF16 has dtype f16, got ${shape.dtype}`);
  return checkBatch(shape, SINGLE, outputIsNull, 'f16');
}

/** The rules that gemm shares with batchedGemm. `dtype` is the call's own where none is given. */
export function checkBatch(
  shape: GemmShape,
  batch: Pick<BatchedGemmShape, 'strideA' | 'strideB' | 'strideC' | 'batchCount'>,
  outputIsNull: boolean,
  dtypeOfOp?: DType,
): CheckedGemm | null {
  const { m, n, k } = shape;
  const { strideA, strideB, strideC, batchCount } = batch;
  checkSize('m', m);
  checkSize('n', n);
  checkSize('k', k);
  checkSize('batchCount', batchCount);
  checkSize('strideA', strideA);
  checkSize('strideB', strideB);
  checkSize('strideC', strideC);
  const transA = checkOneOf('transA', shape.transA ?? 'N', TRANSPOSES) !== 'N';
  const transB = checkOneOf('transB', shape.transB ?? 'N', TRANSPOSES) !== 'N';
  const alpha = checkFloat32('alpha', shape.alpha ?? 1);
  const beta = checkFloat32('beta', shape.beta ?? 0);
  const dtype = dtypeOfOp ?? checkDType(shape.dtype);
  const rowsA = transA ? k : m;
  const columnsA = transA ? m : k;
  const rowsB = transB ? n : k;
  const columnsB = transB ? k : n;
  const lda = shape.lda ?? columnsA;
  const ldb = shape.ldb ?? columnsB;
  const ldc = shape.ldc ?? n;
  checkSize('lda', lda);
  checkSize('ldb', ldb);
  checkSize('ldc', ldc);

  if (m === 0 || n === 0 || batchCount === 0) return null;
  if (k === 0 && outputIsNull) return null;

  checkLeadingDimension('lda', lda, columnsA);
  checkLeadingDimension('ldb', ldb, columnsB);
  checkLeadingDimension('ldc', ldc, n);
  const extentC = matrixExtent('c', m, n, ldc);
  if (batchCount > 1 && strideC < extentC) {
    throw invalid(`strideC must be at least ${extentC}, the extent of one C, got ${strideC}`);
  }
  const batched = (name: string, extent: number, stride: number): number =>
    extent === 0 ? 0 : checkedExtent(name, (batchCount - 1) * stride + extent);
  const operands = [
    { name: 'a', elements: batched('a', matrixExtent('a', rowsA, columnsA, lda), strideA) },
    { name: 'b', elements: batched('b', matrixExtent('b', rowsB, columnsB, ldb), strideB) },
    { name: 'c', elements: batched('c', extentC, strideC), output: true },
  ];
  return {
    m,
    n,
    k,
    transA,
    transB,
    alpha,
    beta,
    lda,
    ldb,
    ldc,
    strideA,
    strideB,
    strideC,
    batchCount,
    dtype,
    operands,
  };
}

function checkLeadingDimension(name: string, value: number, atLeast: number): void {
  if (value < atLeast) throw invalid(`${name} must be at least ${atLeast}, the length of a stored row, got ${value}`);
}
