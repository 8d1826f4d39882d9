/**
 * The compute contract, its errors, the registry and host helpers. Runs in Node and in browsers.
 *
 * @packageDocumentation
 */
export type {
  AllocOptions,
  ComputeBackend,
  LeftOutVariant,
  LostInfo,
  MemoryInfo,
  OpCalls,
  OpPlan,
  OpShape,
  OpShapes,
  PrepareOptions,
  VariantReport,
  WaitOptions,
} from './contract/backend.ts';
export {
  type Capabilities,
  type DeviceInfo,
  type DeviceType,
  type DType,
  type Limits,
  type Numerics,
  OP_NAMES,
  type OpName,
  type Support,
} from './contract/capabilities.ts';
export { type DevicePtr, NULL_PTR, offsetPtr } from './contract/device-ptr.ts';
export type { AttentionCall, AttentionShape } from './contract/ops/attention.ts';
export type { BatchedGemmCall, BatchedGemmShape } from './contract/ops/batched-gemm.ts';
export { BINARY_OPS, type BinaryCall, type BinaryOp, type BinaryShape } from './contract/ops/binary.ts';
export type { Conv2dCall, Conv2dShape } from './contract/ops/conv2d.ts';
export type { GemmCall, GemmShape, Transpose } from './contract/ops/gemm.ts';
export { REDUCE_OPS, type ReduceCall, type ReduceOp, type ReduceShape } from './contract/ops/reduce.ts';
export { UNARY_OPS, type UnaryCall, type UnaryOp, type UnaryShape } from './contract/ops/unary.ts';
export {
  BackendError,
  type BackendErrorFields,
  ERROR_CODES,
  type ErrorCode,
  isBackendError,
  toBackendError,
  type UnavailableReason,
} from './errors/backend-error.ts';
export { f16BitsToF32, f32ToF16Bits, fromF16Array, toF16Array } from './host/f16.ts';
export { download, type DownloadOptions, upload, type UploadOptions } from './host/transfer.ts';
export { type BufferScope, withBuffers } from './host/with-buffers.ts';
export { formatAttempts } from './registry/format-attempts.ts';
export type { Attempt, BackendProvider, CreateOptions, ProbeResult } from './registry/provider.ts';
export { type Requirement, selectBackend, type Selection, type SelectOptions } from './registry/select-backend.ts';
export { selfTest } from './registry/self-test.ts';
