import type { BatchedGemmShape } from '@concord/backend-core';
import { gemmReference } from './gemm.ts';
import type { Reference, Values } from './result.ts';

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
