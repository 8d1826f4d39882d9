/**
 * The compute contract, its errors, the registry and host helpers. Runs in Node and in browsers.
 *
 * @packageDocumentation
 */
export type {
  AllocOptions,
  ComputeBackend,
  ExplainedPass,
  Explanation,
  ExcludedVariant,
  LostInfo,
  MemorySlot,
  Recording,
  RecordOptions,
  MemoryInfo,
  OpCalls,
  OpPlan,
  OpShape,
  OpShapes,
  PlannedCall,
  PrepareOptions,
  VariantReport,
  WaitOptions,
} from './contract/backend.ts';
export {
  type Capabilities,
  type DeviceInfo,
  type DeviceType,
  type Limits,
  type Numerics,
  OP_NAMES,
  type OpName,
  type Support,
} from './contract/capabilities.ts';
export {
  BYTES_OF,
  type NibbleDType,
  type StoredFloatDType,
  type DType,
  DTYPES,
  type FloatDType,
  WEIGHT_BITS,
  type WeightDType,
} from './contract/element-types.ts';
export type { LaunchTrace, TracedLaunch, TracedPass } from './contract/launch-trace.ts';
export { type DevicePtr, NULL_PTR, offsetPtr } from './contract/device-ptr.ts';
export type {
  AttentionCall,
  AttentionShape,
  AttentionViews,
  BatchView,
  HeadStrides,
  MaskDType,
  MaskView,
} from './ops/attention.ts';
export {
  BINARY_OPS,
  type BinaryOp,
  REDUCE_OPS,
  type ReduceOp,
  UNARY_OPS,
  type UnaryOp,
} from './contract/function-names.ts';
export type { BinaryCall, BinaryShape } from './ops/binary.ts';
export type { Conv2dCall, Conv2dShape, FilterShape, HeightWidth, ImageShape, Padding } from './ops/conv2d.ts';
export type { Epilogue, EpilogueField, EpilogueShape } from './ops/epilogue.ts';
export type { BatchedGemmCall, BatchedGemmShape, GemmCall, GemmShape, Transpose } from './ops/gemm.ts';
export type { BlockStrides, QuantB, QuantDType, QuantShape } from './ops/quant-b.ts';
export type { ReduceCall, ReduceShape } from './ops/reduce.ts';
export type { TopKCall, TopKShape } from './ops/top-k.ts';
export type { UnaryCall, UnaryShape } from './ops/unary.ts';
export {
  BackendError,
  type BackendErrorFields,
  ERROR_CODES,
  type ErrorCode,
  isBackendError,
  toBackendError,
  type Attempt,
  type UnavailableReason,
} from './errors/backend-error.ts';
export { printable } from './errors/printable.ts';
export { f32ToBf16Bits, fromBf16Array, toBf16Array } from './host/bf16.ts';
export { f16BitsToF32, f32ToF16Bits, fromF16Array, toF16Array } from './host/f16.ts';
export type { HostArray, HostArrays, HostData } from './host/stored-array.ts';
export { download, type DownloadOptions, upload, type UploadOptions } from './host/transfer.ts';
export { type BufferScope, withBuffers } from './host/with-buffers.ts';
export { formatAttempts } from './registry/format-attempts.ts';
export type { BackendProvider, CreateOptions, ProbeResult } from './registry/provider.ts';
export type { Requirement } from './registry/open-usable.ts';
export { selectBackend, type Selection, type SelectOptions } from './registry/select-backend.ts';
export { selfTest } from './registry/self-test.ts';
