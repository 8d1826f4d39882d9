import type { CheckedGemm } from '@concord/backend-core/implement';
import { get, put, type Storage } from './operands.ts';

/** This many columns of B are packed side by side, and as many sums are kept in local variables. */
const COLUMNS = 4;

let panel = new Float64Array(0);

/**
 * `C = alpha * op(A) * op(B) + beta * C` for every matrix of a batch. Sums are float64 and rounded to float32, which makes those
 * beyond its range infinite, before alpha comes to them. k > 0; beta 0 does not read C.
 *
 * Transposition is a pair of strides: element (i, p) of op(A) is `a[i * rowA + p * depthA]`.
 */
export function gemm(call: CheckedGemm, a: Float32Array, b: Float32Array, c: Storage): void {
  const { m, n, k, transA, transB, alpha, beta, lda, ldb, ldc, strideA, strideB, strideC, batchCount } = call;
  const [rowA, depthA] = transA ? [1, lda] : [lda, 1];
  const [columnB, depthB] = transB ? [ldb, 1] : [1, ldb];
  const store = (at: number, sum: number): void => {
    const product = alpha * Math.fround(sum);
    put(c, at, beta === 0 ? product : product + beta * get(c, at));
  };
  if (panel.length < COLUMNS * k) panel = new Float64Array(COLUMNS * k);
  for (let batch = 0; batch < batchCount; batch++) {
    for (let column = 0; column < n; column += COLUMNS) {
      const columns = Math.min(COLUMNS, n - column);
      for (let p = 0; p < k; p++) {
        const from = batch * strideB + p * depthB + column * columnB;
        for (let j = 0; j < COLUMNS; j++) panel[p * COLUMNS + j] = j < columns ? (b[from + j * columnB] as number) : 0;
      }
      for (let row = 0; row < m; row++) {
        multiplyPanel(a, batch * strideA + row * rowA, depthA, panel, COLUMNS * k);
        for (let j = 0; j < columns; j++) store(batch * strideC + row * ldc + column + j, sums[j] as number);
      }
    }
  }
}

const sums = new Float64Array(COLUMNS);

/** The products of a row of A, whose elements lie `stride` apart, with the columns of a panel. */
function multiplyPanel(a: Float32Array, start: number, stride: number, columns: Float64Array, length: number): void {
  let [sum0, sum1, sum2, sum3] = [0, 0, 0, 0];
  for (let p = 0, at = start; p < length; p += COLUMNS, at += stride) {
    const x = a[at] as number;
    sum0 += x * (columns[p] as number);
    sum1 += x * (columns[p + 1] as number);
    sum2 += x * (columns[p + 2] as number);
    sum3 += x * (columns[p + 3] as number);
  }
  sums[0] = sum0;
  sums[1] = sum1;
  sums[2] = sum2;
  sums[3] = sum3;
}
