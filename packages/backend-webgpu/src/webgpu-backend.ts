import type { BackendError, DevicePtr, Explanation } from '@concord/backend-core';
import { type BaseBackendOptions, BYTES_OF, type InitResult, type KernelCall } from '@concord/backend-core/implement';
import { PlannedBackend, type PoolCounters, type VariantTuning } from '@concord/variants';
import { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import type { Kernel } from './kernels/kernel.ts';
import { explainPlan, type LaunchPlan, PLANNING } from './kernels/launch-plan.ts';
import { planCopyDtod, planCopyHtod, planFill } from './kernels/memory/plan.ts';
import { bindingSlack } from './kernels/operands.ts';
import type { MatrixShape, Recorder, Span, StorageBuffer } from './kernels/recorder.ts';
import { MAX_K } from './kernels/top-k/plan.ts';
import { type Faults, tryDevice } from './trials.ts';

/** Options of a {@link WebGpuBackend}. */
export interface WebGpuBackendOptions extends WebGpuOptions, BaseBackendOptions {}

/** Memory behind a pointer, for user shaders. */
export interface NativeBuffer {
  readonly buffer: GPUBuffer;
  /** Bytes from the start of the buffer to the pointer: 0, unless it points inside. Bindings want multiples of 256. */
  readonly offset: number;
  /** Bytes from the pointer to the end of its allocation, rounded up to a multiple of 4 as bindings want it. */
  readonly size: number;
}

/** The type of `native` of a {@link WebGpuBackend}. */
export interface WebGpuNative {
  readonly device: GPUDevice;
  readonly queue: GPUQueue;
  readonly adapterInfo: GPUAdapterInfo;
  /**
   * The buffer around a pointer. It is the pointer's until `free`.
   *
   * @throws {BackendError} INVALID_ARGUMENT for a pointer that is not live
   */
  bufferOf(ptr: DevicePtr): NativeBuffer;
  /**
   * Submits the caller's commands between the ops before and the ops after this call. When `callback` throws, they
   * are dropped.
   *
   * @throws {BackendError} INVALID_ARGUMENT when `callback` calls an op, or returns a promise: it may not be async
   */
  encode(callback: (encoder: GPUCommandEncoder) => void): void;
  /** Counters of the device memory of this backend, that of pooled and scratch buffers included. */
  memory(): PoolCounters;
  readonly tuning: VariantTuning;
  /** The type `f16` in shaders. Without it products of f16 are stored in words of 32 bits. */
  readonly f16: {
    readonly isUsed: boolean;
    /** Why it is not used though the device offers it: what the trial at `init` found. */
    readonly fault?: string | undefined;
  };
  /** Matrix units that products of f16 run on; see `dawn.matrixUnits` of the options. */
  readonly matrixUnits: {
    /** The shapes that they multiply; none where the device has none or they are not used. */
    readonly shapes: readonly MatrixShape[];
    /** Why they are not used though the device has them: what the trial at `init` found. */
    readonly fault?: string | undefined;
  };
}

/** The contract in WGSL, on Dawn in Node, on `navigator.gpu` in a browser, or on a device that the caller made. */
export class WebGpuBackend extends PlannedBackend<StorageBuffer, LaunchPlan, Recorder, Kernel, WebGpuClient> {
  readonly name = 'webgpu';
  readonly native: WebGpuNative;
  readonly #options: WebGpuOptions;
  #faults: Faults = {};

  constructor(options: WebGpuBackendOptions = {}) {
    super(PLANNING, options);
    this.#options = options;
    this.native = this.#makeNative();
  }

  protected explainPlan(plan: LaunchPlan): Explanation {
    return explainPlan(plan, (kernel) => this.opened.codeOf(kernel));
  }

  protected compile(kernel: Kernel): Promise<unknown> {
    return this.opened.compile(kernel);
  }

  protected async doInit(): Promise<InitResult> {
    const client = await WebGpuClient.open(this.#options);
    this.use(client);
    this.#faults = await tryDevice(client, this.#options);
    return {
      device: client.deviceInfo,
      limits: { maxAllocationBytes: client.traits.maxBufferBytes, maxHeadDim: 256, maxTopK: MAX_K },
      numerics: { f32Subnormals: 'may-flush' },
    };
  }

  protected async doDispose(): Promise<void> {
    // Destroying a device blocks the thread until its work is done. A device that is gone has none.
    await this.opened.idle().catch(() => undefined);
    this.opened.dispose();
  }

  protected doCopyHtod(dst: Span, src: Uint8Array): void {
    planCopyHtod(dst, src, this.opened);
  }

  protected doCopyDtod(dst: Span, src: Span): void {
    this.opened.record('copyDtod', (recorder) => planCopyDtod(dst, src, recorder));
  }

  protected doFill(dst: Span, byte: number): void {
    planFill(dst, byte, this.opened);
  }

  protected override isSticky(error: BackendError): boolean {
    return !this.opened.isRefusal(error);
  }

  /** Beside what this excludes, only what needs more than one binding for an operand is ever refused. */
  protected override mayBeRefused({ kernel, call }: KernelCall): boolean {
    const { maxBindingBytes, maxBufferBytes, storageAlignment } = this.opened.traits;
    const room = Math.min(maxBindingBytes, maxBufferBytes);
    if (kernel === 'run' || kernel === 'conv2dForward') return true;
    // What attention writes in between is a few megabytes.
    if (kernel === 'attention' && room < USUAL_BYTES) return true;
    // With an epilogue C may be held in float32 in between.
    if (kernel === 'gemm' && call.epilogue !== undefined && 8 * call.batchCount * call.m * call.n > room) return true;
    const limit = maxBindingBytes - bindingSlack(storageAlignment);
    return call.operands.some(({ elements, dtype }) => elements * BYTES_OF[dtype] > limit);
  }

  #makeNative(): WebGpuNative {
    const client = (): WebGpuClient => this.usable;
    const faults = (): Faults => this.#faults;
    return {
      get device() {
        return client().device;
      },
      get queue() {
        return client().queue;
      },
      get adapterInfo() {
        return client().adapterInfo;
      },
      bufferOf: (ptr) => {
        const { buffer, byteOffset, byteLength } = this.operandAt(ptr);
        return { buffer: client().bufferOf(buffer), offset: byteOffset, size: Math.ceil(byteLength / 4) * 4 };
      },
      encode: (callback) => {
        this.capture?.refuse('native.encode');
        client().encode(callback);
      },
      // Also after a failure: then the counters matter most.
      memory: () => this.opened.memory(),
      tuning: this.makeTuning(),
      get f16() {
        return { isUsed: client().traits.hasF16, fault: faults().f16 };
      },
      get matrixUnits() {
        return { shapes: client().traits.matrixUnits, fault: faults().matrixUnits };
      },
    };
  }
}

/** Bytes that a binding and a buffer have on every device, unless an option or a test wants fewer. */
const USUAL_BYTES = 2 ** 27;
