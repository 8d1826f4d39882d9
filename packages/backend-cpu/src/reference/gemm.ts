import type { BatchedGemmShape, GemmShape } from '@concord/backend-core';
import { inRange, type Reference, type Values } from './result.ts';

/** The starts of the operands of one product in their arrays; 0 by default. */
export interface GemmOffsets {
  readonly a?: number;
  readonly b?: number;
  readonly c?: number;
}

/**
 * `C = alpha op(A) op(B) + beta C` in float64, by definition: one sum per entry, in order of k. A sum beyond the range of
 * float32 is infinite before alpha comes to it.
 *
 * @param c - C before the call; not read when beta is 0
 * @returns m x n, packed; `magnitude` is sum |a||b| without alpha
 */
export function gemmReference(
  shape: GemmShape,
  a: Values,
  b: Values,
  c: Values = [],
  offsets: GemmOffsets = {},
): Reference {
  const { m, n, k } = shape;
  const transA = (shape.transA ?? 'N') !== 'N';
  const transB = (shape.transB ?? 'N') !== 'N';
  const alpha = Math.fround(shape.alpha ?? 1);
  const beta = Math.fround(shape.beta ?? 0);
  const lda = shape.lda ?? (transA ? m : k);
  const ldb = shape.ldb ?? (transB ? k : n);
  const ldc = shape.ldc ?? n;
  const { a: startA = 0, b: startB = 0, c: startC = 0 } = offsets;

  const value = new Float64Array(m * n);
  const magnitude = new Float64Array(m * n);
  for (let i = 0; i < m; i++) {
    for (let j = 0; j < n; j++) {
      let sum = 0;
      let absolute = 0;
      for (let p = 0; alpha !== 0 && p < k; p++) {
        const x = a[startA + (transA ? p * lda + i : i * lda + p)] as number;
        const y = b[startB + (transB ? j * ldb + p : p * ldb + j)] as number;
        sum += x * y;
        absolute += Math.abs(x * y);
      }
      const product = alpha === 0 || k === 0 ? 0 : alpha * inRange(sum);
      const old = beta === 0 ? 0 : beta * (c[startC + i * ldc + j] as number);
      value[i * n + j] = product + old;
      magnitude[i * n + j] = absolute;
    }
  }
  return { value, magnitude };
}

/**
 * {@link gemmReference}, `batchCount` times.
 *
 * @returns batchCount x m x n, packed
 */
export function batchedGemmReference(shape: BatchedGemmShape, a: Values, b: Values, c: Values = []): Reference {
  const { m, n, batchCount, strideA, strideB, strideC } = shape;
  const value = new Float64Array(batchCount * m * n);
  const magnitude = new Float64Array(batchCount * m * n);
  for (let batch = 0; batch < batchCount; batch++) {
    const one = gemmReference(shape, a, b, c, { a: batch * strideA, b: batch * strideB, c: batch * strideC });
    value.set(one.value, batch * m * n);
    magnitude.set(one.magnitude, batch * m * n);
  }
  return { value, magnitude };
}
