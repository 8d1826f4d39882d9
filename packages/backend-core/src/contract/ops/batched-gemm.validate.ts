import type { BatchedGemmShape } from './batched-gemm.ts';
import { type CheckedGemm, checkBatch } from './gemm.validate.ts';

/**
 * The rules of `batchedGemm`: those of gemm, and no two C of the batch may overlap.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkBatchedGemm(shape: BatchedGemmShape, outputIsNull: boolean): CheckedGemm | null {
  return checkBatch(shape, shape, outputIsNull);
}
