import {
  type BackendError,
  type DevicePtr,
  type DType,
  type Explanation,
  type FloatDType,
  isBackendError,
  type VariantReport,
} from '@concord/backend-core';
import {
  BaseBackend,
  type PlannedKernels,
  type BaseBackendOptions,
  type CheckedCall,
  BYTES_OF,
  DTYPES,
  type InitResult,
  type KernelCall,
  type Launch,
  type OpKernel,
  type Sequence,
} from '@concord/backend-core/implement';
import type { Kernel, RunShape } from '@concord/backend-core/kernel';
import { type VariantTuning, variantTuning } from '@concord/variants';
import type { PoolCounters } from './client/buffer-pool.ts';
import { WebGpuClient } from './client/webgpu-client.ts';
import type { WebGpuOptions } from './client/webgpu-options.ts';
import { planCopyDtod, planCopyHtod, planFill } from './kernels/memory/plan.ts';
import { bindingSlack } from './kernels/operands.ts';
import { PlanCache } from './kernels/plan-cache.ts';
import { explainPlan } from './kernels/run/explain.ts';
import type { DeviceTraits, MatrixShape, Span, StorageBuffer } from './kernels/recorder.ts';
import { MAX_K } from './kernels/top-k/plan.ts';
import { f16Fault } from './f16-trial.ts';
import { matrixUnitsFault } from './matrix-units-trial.ts';

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

const FLOATS: readonly FloatDType[] = ['f32', 'f16'];
const F32: readonly FloatDType[] = ['f32'];

/** The contract in WGSL, on Dawn in Node, on `navigator.gpu` in a browser, or on a device that the caller made. */
export class WebGpuBackend extends BaseBackend<StorageBuffer> {
  readonly name = 'webgpu';
  readonly native: WebGpuNative;
  protected readonly kernels: PlannedKernels<StorageBuffer> = {
    gemm: { ...this.#kernel('gemm', FLOATS), hasEpilogues: true },
    conv2dForward: { ...this.#kernel('conv2dForward', FLOATS), hasEpilogues: true },
    attention: this.#kernel('attention', FLOATS),
    topK: this.#kernel('topK', F32),
    run: this.#kernel('run', DTYPES),
  };
  readonly #options: WebGpuOptions;
  #opened: WebGpuClient | undefined;
  #openedPlans: PlanCache | undefined;
  #f16Fault: string | undefined;
  #matrixUnitsFault: string | undefined;

  constructor(options: WebGpuBackendOptions = {}) {
    super(options);
    this.#options = options;
    this.native = this.#makeNative();
  }

  /** Which kernel variants ran. Works after loss too. */
  variants(): VariantReport {
    const { variantRuns, tuning } = this.#client;
    const candidates = [...this.#plans.candidates];
    const { preferences, leftOut } = tuning;
    return { runs: Object.fromEntries(variantRuns), candidates, forced: preferences.forced, leftOut };
  }

  /** Explains how a kernel is computed: the launches, with their WGSL. Errors as `run`. */
  explain(kernel: Kernel, call: Omit<RunShape, 'kernel'>): Explanation {
    this.assertUsable('explain');
    const [step] = this.loweredShape('run', { ...call, kernel });
    return step === undefined ? { passes: [] } : explainPlan(this.#plans.ofShape(step));
  }

  protected async doInit(): Promise<InitResult> {
    const client = await WebGpuClient.open(this.#options);
    this.#opened = client;
    this.#openedPlans = new PlanCache(client.traits);
    client.onFailure((error) => this.reportFailure(error));
    void client.lost.then(({ reason, message }) => this.reportLost(message || reason));
    this.#f16Fault = await f16Fault(client, this.#options);
    if (this.#f16Fault !== undefined) client.renounceF16();
    this.#matrixUnitsFault = this.#f16Fault ?? (await matrixUnitsFault(client, this.#options));
    if (this.#matrixUnitsFault !== undefined) client.renounceMatrixUnits();
    return {
      device: client.deviceInfo,
      limits: { maxAllocationBytes: client.traits.maxBufferBytes, maxHeadDim: 256, maxTopK: MAX_K },
      numerics: { f32Subnormals: 'may-flush' },
    };
  }

  protected async doDispose(): Promise<void> {
    // Destroying a device blocks the thread until its work is done. A device that is gone has none.
    await this.#client.idle().catch(() => undefined);
    this.#client.dispose();
  }

  protected doAlloc(bytes: number, label: string | undefined): StorageBuffer {
    return this.#client.allocate(bytes, label);
  }

  protected doFree(buffer: StorageBuffer): void {
    this.#client.deallocate(buffer.id);
  }

  protected doCopyHtod(dst: Span, src: Uint8Array): void {
    planCopyHtod(dst, src, this.#client);
  }

  protected doCopyDtoh(src: Span, deliver: (bytes: Uint8Array) => void): Promise<void> {
    return this.#client.read(src, deliver);
  }

  protected doCopyDtod(dst: Span, src: Span): void {
    this.#client.record('copyDtod', (recorder) => planCopyDtod(dst, src, recorder));
  }

  protected doFill(dst: Span, byte: number): void {
    planFill(dst, byte, this.#client);
  }

  protected doSynchronize(): Promise<void> {
    return this.#client.finish();
  }

  protected override doSequence(calls: readonly Launch<StorageBuffer>[]): Sequence {
    const planned = calls.map((call) => {
      return { op: call.opName, operands: call.operands, ...this.#plans.withParams(call) };
    });
    return this.#client.sequence(planned);
  }

  protected override isSticky(error: BackendError): boolean {
    return !this.#client.isRefusal(error);
  }

  protected override doFlush(): void {
    this.#client.flush();
  }

  protected override pooledBytes(): number {
    return this.#opened?.memory().pooledBytes ?? 0;
  }

  get #client(): WebGpuClient {
    if (this.#opened === undefined) throw this.notReady();
    return this.#opened;
  }

  get #plans(): PlanCache {
    if (this.#openedPlans === undefined) throw this.notReady();
    return this.#openedPlans;
  }

  /** A kernel that is planned and then recorded. */
  #kernel<Name extends KernelCall['kernel']>(
    kernel: Name,
    dtypes: readonly DType[],
  ): NonNullable<PlannedKernels<StorageBuffer>[Name]> {
    const methods: Omit<OpKernel<never, never>, 'run'> = {
      dtypes,
      refuse: (call: KernelCall['call']) => this.#refuse({ kernel, call } as KernelCall),
      prepare: (call: KernelCall['call'], inPlaceOf?: readonly number[]) =>
        this.#prepare({ kernel, call, ...(inPlaceOf === undefined ? {} : { inPlaceOf }) } as KernelCall),
    };
    return methods;
  }

  protected override doLaunch(launch: Launch<StorageBuffer>): void {
    const { plan, params } = this.#plans.withParams(launch);
    this.#client.run(launch.opName, plan, launch.operands, params);
  }

  async #prepare(call: KernelCall): Promise<void> {
    const steps = this.#plans.ofPlaces(call).flatMap((plan) => plan.steps);
    const kernels = new Set(steps.flatMap((step) => ('kernel' in step ? step.kernel : [])));
    await Promise.all([...kernels].map((kernel) => this.#client.compile(kernel)));
  }

  #refuse(call: KernelCall): string | undefined {
    const { traits } = this.#client;
    // Beside these, only what needs more than one binding for an operand is ever refused.
    if (isPlain(call, traits) && fitBindings(call.call, traits)) return undefined;
    try {
      this.#plans.ofShape(call);
      return undefined;
    } catch (error) {
      if (isBackendError(error, 'UNSUPPORTED')) return error.detail;
      throw error;
    }
  }

  #makeNative(): WebGpuNative {
    const client = (): WebGpuClient => {
      this.assertUsable('native');
      return this.#client;
    };
    const faults = () => ({ f16: this.#f16Fault, matrixUnits: this.#matrixUnitsFault });
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
      memory: () => this.#client.memory(),
      tuning: variantTuning(
        () => client().tuning,
        (op, shape) => {
          const steps = this.loweredShape(op, shape);
          return steps.flatMap((step) => this.#plans.ofShape(step).picks);
        },
      ),
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

/** Returns whether a call can only be refused for its operands' sizes. What attention writes in between is a few megabytes. */
function isPlain(
  call: KernelCall,
  { maxBindingBytes, maxBufferBytes }: DeviceTraits,
): call is Extract<KernelCall, { kernel: 'gemm' | 'topK' | 'attention' }> {
  if (call.kernel === 'attention') return Math.min(maxBindingBytes, maxBufferBytes) >= USUAL_BYTES;
  if (call.kernel !== 'gemm') return call.kernel === 'topK';
  // With an epilogue C may be held in float32 in between.
  const { batchCount, m, n, epilogue } = call.call;
  return epilogue === undefined || 4 * batchCount * m * n <= Math.min(maxBindingBytes, maxBufferBytes) / 2;
}

/** Returns whether one binding covers each operand, wherever in its buffer it lies. */
function fitBindings({ operands }: CheckedCall, { maxBindingBytes, storageAlignment }: DeviceTraits): boolean {
  const limit = maxBindingBytes - bindingSlack(storageAlignment);
  return operands.every(({ elements, dtype }) => elements * BYTES_OF[dtype] <= limit);
}
