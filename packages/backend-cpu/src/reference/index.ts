/**
 * The oracle: every op by its definition in float64. Slow on purpose, and independent of the kernels that `CpuBackend`
 * runs.
 *
 * @packageDocumentation
 */
export { attentionReference, type AttentionReference, type PlacedBatch, visibleKeys } from './attention.ts';
export { batchedGemmReference } from './gemm.ts';
export { quantReference, type QuantValues } from './quant-b.ts';
export { binaryFunction, binaryReference } from './binary.ts';
export { conv2dReference } from './conv2d.ts';
export { erfcReference } from './erfc.ts';
export { type GemmOffsets, gemmReference } from './gemm.ts';
export { reduceReference } from './reduce.ts';
export type { Reference, Values } from './result.ts';
export { topKReference } from './top-k.ts';
export { unaryFunction, unaryReference } from './unary.ts';
export * from './run/index.ts';
