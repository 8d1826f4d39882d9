export { type AdapterChoice } from './client/adapters.ts';
export { type PoolCounters } from './client/buffer-pool.ts';
export { type DawnOptions } from './client/dawn-source.ts';
export { WebGpuClient, type WebGpuOptions } from './client/webgpu-client.ts';
export { defineKernel, type Kernel, type KernelSource, type StorageBinding } from './kernels/kernel.ts';
export { type DeviceTraits, type Launch, type Recorder, type Span, type StorageBuffer } from './kernels/recorder.ts';
export { webgpu } from './provider.ts';
export { type NativeBuffer, WebGpuBackend, type WebGpuBackendOptions, type WebGpuNative } from './webgpu-backend.ts';
