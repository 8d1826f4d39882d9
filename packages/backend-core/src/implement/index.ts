/**
 * Tools for authors of backends: extend {@link BaseBackend} with a record of kernels and the `do...` methods.
 *
 * @packageDocumentation
 */
export { BYTES_OF, DTYPES, ELEMENT_TYPES, type ElementType, WEIGHT_BITS } from '../contract/element-types.ts';
export { describe } from '../contract/checks.ts';
export { checkFields, nearestName } from '../contract/fields.ts';
export { annotate } from '../errors/backend-error.ts';
export type { CheckedRun, ResolvedRun, RunLayout } from '../kernel/checked-run.ts';
export { reading } from '../errors/reading.ts';
export { readParams } from '../kernel/read-run-call.ts';
export type { CheckedAttention, HeadStrides } from '../ops/attention.ts';
export type { CheckedBinary } from '../ops/binary.ts';
export type { CheckedConv2d } from '../ops/conv2d.ts';
export type { CheckedEpilogue } from '../ops/epilogue.ts';
export type { CheckedGemm } from '../ops/gemm.ts';
export type { CheckedBlocks, CheckedQuant } from '../ops/quant-b.ts';
export { type DefinedOp, OPS } from '../ops/index.ts';
export type {
  CheckedCall,
  DerivedDefinition,
  Feature,
  Features,
  FieldKind,
  KernelName,
  OpCost,
  OpDefinition,
  OperandSpec,
  OpSample,
} from '../ops/op-definition.ts';
export type { CheckedReduce } from '../ops/reduce.ts';
export type { CheckedTopK } from '../ops/top-k.ts';
export type { CheckedUnary } from '../ops/unary.ts';
export type {
  BackendKernels,
  KernelCall,
  Launch,
  OpKernel,
  PlannedKernels,
  ResolvedAttention,
  ResolvedCall,
  ResolvedConv2d,
  ResolvedGemm,
  ResolvedTopK,
  RunKernel,
  WithOperands,
} from './backend-kernels.ts';
export { freeScalars, resolvedCall } from './backend-kernels.ts';
export type { Allocation } from './allocation-table.ts';
export { BaseBackend } from './base-backend.ts';
export { ListCache, type ListKey, ListMap } from './list-map.ts';
export { BackendLifecycle, type InitResult } from './lifecycle.ts';
export type { BaseBackendOptions, MemoryMethods } from './memory-methods.ts';
export type { Operand } from './operand.ts';
export { planCall } from './plan-call.ts';
export type { Capture, Sequence } from './capture.ts';
export type { LaunchTimer } from './trace-launches.ts';
