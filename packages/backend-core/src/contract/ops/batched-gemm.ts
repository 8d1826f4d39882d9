import type { GemmCall, GemmShape } from './gemm.ts';

/** {@link GemmShape}, `batchCount` times, with a constant distance between the matrices of consecutive batches. */
export interface BatchedGemmShape extends GemmShape {
  /** Elements between the A of two batches; 0 broadcasts one A. */
  readonly strideA: number;
  /** Elements between the B of two batches; 0 broadcasts one B. */
  readonly strideB: number;
  /** Elements between the C of two batches, at least the extent of one C. */
  readonly strideC: number;
  readonly batchCount: number;
}

/** Arguments of `batchedGemm`. */
export interface BatchedGemmCall extends BatchedGemmShape, Pick<GemmCall, 'a' | 'b' | 'c'> {}
