/**
 * Concord through WebGPU: Dawn in Node, `navigator.gpu` in a browser, or a device of the caller's.
 *
 * @packageDocumentation
 */
export type { AdapterChoice } from './client/adapters.ts';
export type { PoolCounters } from '@concord/variants';
export type { DawnOptions } from './client/dawn-source.ts';
export type { BindingLayout, CompiledKernel } from './client/pipeline-cache.ts';
export { WebGpuClient } from './client/webgpu-client.ts';
export type { WebGpuOptions } from './client/webgpu-options.ts';
export { explainRun } from './explain-run.ts';
export {
  defineKernel,
  type Kernel,
  type KernelBinding,
  type KernelFeature,
  type KernelSource,
  type StorageBinding,
  type UniformType,
} from './kernels/kernel.ts';
export type { DeviceTraits, Launch, MatrixShape, Recorder, Span, StorageBuffer } from './kernels/recorder.ts';
export { webgpuVariants } from './kernels/families.ts';
export { webgpu } from './provider.ts';
export { type NativeBuffer, WebGpuBackend, type WebGpuBackendOptions, type WebGpuNative } from './webgpu-backend.ts';
