/**
 * For authors of backends: extend {@link BaseBackend} and write the `do...` methods.
 *
 * @packageDocumentation
 */
export type { CheckedCall, OperandSpec } from '../contract/checks.ts';
export { byteSize } from '../contract/checks.ts';
export type { CheckedAttention } from '../contract/ops/attention.validate.ts';
export type { CheckedBinary } from '../contract/ops/binary.validate.ts';
export type { CheckedConv2d } from '../contract/ops/conv2d.validate.ts';
export type { CheckedGemm } from '../contract/ops/gemm.validate.ts';
export type { CheckedReduce } from '../contract/ops/reduce.validate.ts';
export type { CheckedUnary } from '../contract/ops/unary.validate.ts';
export { annotate, toBackendError } from '../errors/backend-error.ts';
export { BaseBackend, type BaseBackendOptions } from './base-backend.ts';
export type { CheckedOp } from './checked-op.ts';
export { BackendLifecycle, type InitResult } from './lifecycle.ts';
export type {
  Operand,
  ResolvedAttention,
  ResolvedBinary,
  ResolvedConv2d,
  ResolvedGemm,
  ResolvedReduce,
  ResolvedScale,
  ResolvedUnary,
  WithOperands,
} from './resolved.ts';
