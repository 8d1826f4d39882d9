import { madeOnce } from '@concord/kernel';
import type { UnavailableReason } from '@concord/backend-core';

// The types of WebGPU that this package's own are made of. They come with TypeScript's library of a page from version 6 on, or
// with `@webgpu/types`. With either, the declarations here are one with those there and add nothing; without, the types of this
// package still compile, and these say nothing of what is behind them.
declare global {
  interface GPU {}
  interface GPUAdapter {}
  interface GPUAdapterInfo {}
  interface GPUBindGroup {}
  interface GPUBindGroupLayout {}
  interface GPUBuffer {}
  interface GPUCommandBuffer {}
  interface GPUCommandEncoder {}
  interface GPUComputePipeline {}
  interface GPUDevice {}
  interface GPUDeviceLostInfo {}
  interface GPUError {}
  interface GPUPipelineLayout {}
  interface GPUQueue {}
}

/** Why there is no GPU. */
export interface GpuMissing {
  readonly found: false;
  readonly reason: UnavailableReason;
  readonly message: string;
  /** A hint for the user. */
  readonly hint?: string | undefined;
}

/** An entry point to WebGPU. */
export interface GpuFound {
  readonly found: true;
  readonly gpu: GPU;
  /**
   * Calls `start`, which calls WebGPU and gives its promise. Where a runtime polls for the answers to its promises, this
   * makes it do so politely.
   */
  readonly awaiting: <T>(start: () => Promise<T>) => Promise<T>;
  /** Why no adapter was given, as far as it can be found out; `refusal` is what the runtime said. */
  readonly explainNoAdapter: (refusal: string | undefined) => GpuMissing;
  /** True if WebGPU's promise holds that a read beyond a binding does no harm. Default: unknown. */
  readonly checksBounds?: boolean;
  /** Features that are not asked for even where the adapter has them. */
  readonly unwanted?: readonly string[];
}

/** A source of the GPU. */
export interface GpuSource {
  readonly name: 'dawn' | 'browser' | 'injected';
  /** Equal keys mean the same adapters, so that a device can be shared. */
  readonly key: string;
  /** Never rejects. */
  open(): Promise<GpuFound | GpuMissing>;
}

/** A device, and how to wait for what it promises. */
export interface GpuContext {
  readonly device: GPUDevice;
  readonly awaiting: GpuFound['awaiting'];
}

/** Awaits in runtimes that do not poll. */
export function awaitPlainly<T>(start: () => Promise<T>): Promise<T> {
  return start();
}

// Node has no globals for these; the values are fixed by the WebGPU specification.

/** Bits of `GPUBufferUsage`. */
export const USAGE: {
  readonly mapRead: 1;
  readonly mapWrite: 2;
  readonly copySrc: 4;
  readonly copyDst: 8;
  readonly uniform: 64;
  readonly storage: 128;
} = { mapRead: 1, mapWrite: 2, copySrc: 4, copyDst: 8, uniform: 64, storage: 128 };

/** `GPUMapMode.READ` */
export const MAP_READ = 1;

/** `GPUShaderStage.COMPUTE` */
export const STAGE_COMPUTE = 4;

const keys = new WeakMap<object, string>();
let made = 0;

/** A `GPU` object that the caller made: another Dawn, a browser's, a mock. */
export function injectedSource(gpu: GPU): GpuSource {
  return {
    name: 'injected',
    key: keyOf(gpu),
    open: async () => ({
      found: true,
      gpu,
      awaiting: awaitPlainly,
      explainNoAdapter: () => ({ found: false, reason: 'no-device', message: 'the injected gpu offered no adapter' }),
    }),
  };
}

/** A key for an object that lasts as long as the object. */
export function keyOf(object: object): string {
  return madeOnce(keys, object, () => `injected ${++made}`);
}
