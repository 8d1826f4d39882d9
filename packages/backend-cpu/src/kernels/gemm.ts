/**
 * gemm and batchedGemm, float32 or float16 storage: `C = alpha * op(A) * op(B) + beta * C`.
 *
 * Everything is summed in float64 and rounded once, when C is stored. Large products go through the packed blocks of
 * blocks.ts (192 x 256, 3 x 2 register tiles); a product with a single row or column is a matrix-vector product, where
 * packing would cost more than it saves; very small ones are three plain loops. Transposition is only a pair of
 * strides: element (i, p) of op(A) is `a[i * rowStride + p * depthStride]`.
 */

import type { CheckedGemm } from '@concord/backend-core/implement';
import { multiplyBlocked } from './blocks.ts';
import type { Storage } from './half.ts';
import { multiplyVector } from './matrix-vector.ts';
import { packPanels } from './pack.ts';
import { storeRow } from './store.ts';
import { planesA, planesB } from './tile.ts';

export type { Storage } from './half.ts';

/** Products of fewer multiplications than this are not worth packing. */
const SMALL_PRODUCT = 128;

/** `C = alpha * op(A) * op(B) + beta * C` for every matrix of the batch. k > 0; beta 0 does not read C. */
export function gemm(call: CheckedGemm, a: Storage, b: Storage, c: Storage): void {
  const { m, n, k, strideA, strideB, strideC, batchCount } = call;
  const small = m * n * k <= SMALL_PRODUCT && a instanceof Float32Array && b instanceof Float32Array;
  for (let batch = 0; batch < batchCount; batch++) {
    const startA = batch * strideA;
    const startB = batch * strideB;
    const startC = batch * strideC;
    if (small) multiplySmall(call, a, b, c, startA, startB, startC);
    else if (n === 1) multiplyColumn(call, a, b, c, startA, startB, startC);
    else if (m === 1) multiplyRow(call, a, b, c, startA, startB, startC);
    else multiplyMatrices(call, a, b, c, startA, startB, startC);
  }
}

type Multiply<Input extends Storage> = (
  call: CheckedGemm,
  a: Input,
  b: Input,
  c: Storage,
  startA: number,
  startB: number,
  startC: number,
) => void;

const multiplyMatrices: Multiply<Storage> = (call, a, b, c, startA, startB, startC) => {
  const { m, n, k, transA, transB, alpha, beta, lda, ldb, ldc } = call;
  const [rowA, depthA] = transA ? [1, lda] : [lda, 1];
  const [columnB, depthB] = transB ? [ldb, 1] : [1, ldb];
  multiplyBlocked({
    m,
    n,
    k,
    packA(row, rows, p, depth) {
      packPanels(planesA, a, startA + row * rowA + p * depthA, rowA, depthA, rows, depth);
    },
    packB(column, columns, p, depth) {
      packPanels(planesB, b, startB + column * columnB + p * depthB, columnB, depthB, columns, depth);
    },
    store(row, rows, column, columns, block, stride) {
      for (let r = 0; r < rows; r++) {
        storeRow(block, r * stride, c, startC + (row + r) * ldc + column, columns, alpha, beta);
      }
    },
  });
};

/** n = 1: a column of B, whose elements are ldb apart unless it is stored as a row. */
const multiplyColumn: Multiply<Storage> = (call, a, b, c, startA, startB, startC) => {
  const { m, k, transA, transB, alpha, beta, lda, ldb, ldc } = call;
  const [rowA, depthA] = transA ? [1, lda] : [lda, 1];
  multiplyVector(a, startA, rowA, depthA, m, k, b, startB, transB ? 1 : ldb, (i, sums, count) => {
    for (let r = 0; r < count; r++) storeRow(sums, r, c, startC + (i + r) * ldc, 1, alpha, beta);
  });
};

/** m = 1: the transposed product, so that B is the matrix and the row of A the vector. */
const multiplyRow: Multiply<Storage> = (call, a, b, c, startA, startB, startC) => {
  const { n, k, transA, transB, alpha, beta, lda, ldb } = call;
  const [columnB, depthB] = transB ? [ldb, 1] : [1, ldb];
  multiplyVector(b, startB, columnB, depthB, n, k, a, startA, transA ? lda : 1, (j, sums, count) => {
    storeRow(sums, 0, c, startC + j, count, alpha, beta);
  });
};

const multiplySmall: Multiply<Storage> = (call, a, b, c, startA, startB, startC) => {
  const { m, n, k, transA, transB, alpha, beta, lda, ldb, ldc } = call;
  const [rowA, depthA] = transA ? [1, lda] : [lda, 1];
  const [columnB, depthB] = transB ? [ldb, 1] : [1, ldb];
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      let x = startA + i * rowA;
      let y = startB + j * columnB;
      for (let p = 0; p < k; p++, x += depthA, y += depthB) sum += (a[x] as number) * (b[y] as number);
      smallSums[j] = sum;
    }
    storeRow(smallSums, 0, c, startC + i * ldc, n, alpha, beta);
  }
};

const smallSums = new Float64Array(SMALL_PRODUCT);
