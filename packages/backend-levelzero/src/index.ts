/**
 * Concord through Level Zero: SPIR-V kernels on Intel's GPUs, from Node.
 *
 * @packageDocumentation
 */
export type { ModuleConstant } from './device/build-module.ts';
export { LevelZeroClient, type LoadOptions } from './device/level-zero-client.ts';
export type { LoadedModule } from './device/loaded-module.ts';
export type { PoolCounters } from '@concord/variants';
export type { Allocation } from './device/memory-pool.ts';
export type { BuildLog } from './device/module-cache.ts';
export type { DeviceChoice, LevelZeroOptions } from './device/options.ts';
export type { UserArgument } from './device/user-kernel.ts';
export type { ContextHandle, DeviceHandle, DriverHandle, Handle, QueueHandle } from './ffi/prototypes.ts';
export {
  defineKernel,
  type Kernel,
  type KernelScope,
  type KernelSource,
  type Parameter,
  type ParameterType,
  type Pointee,
  type SpecConstant,
} from './kernels/kernel.ts';
export { levelZeroVariants } from './kernels/families.ts';
export type { DeviceMemory, DeviceTraits, Launch, Recorder, Span } from './kernels/recorder.ts';
export { LevelZeroBackend, type LevelZeroBackendOptions } from './levelzero-backend.ts';
export type { LevelZeroNative, NativeArgument, NativeLaunchOptions } from './native.ts';
export { levelZero } from './provider.ts';
export { type GemmPart, type GemmSplit, splitGemm } from './split-gemm.ts';
