import { BackendError, type DeviceInfo } from '@concord/backend-core';
import type { LaunchTimer, Sequence } from '@concord/backend-core/implement';
import {
  DeviceTuning,
  type PlannedCall,
  type PlannedDevice,
  type PoolCounters,
  tuningSettings,
} from '@concord/variants';
import { webgpuVariants } from '../kernels/families.ts';
import type { Kernel } from '../kernels/kernel.ts';
import type { LaunchPlan } from '../kernels/launch-plan.ts';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../kernels/recorder.ts';
import { BufferPool } from './buffer-pool.ts';
import { checkOptions, type WebGpuOptions } from './webgpu-options.ts';
import { CommandStream } from './command-stream.ts';
import { describeAdapter } from './adapters.ts';
import { Refusals, type Scoped, toCodedError, within } from './errors.ts';
import { gpuSource } from './choose-source.ts';
import type { CompiledKernel } from './pipeline-cache.ts';
import { PassTimer } from './pass-timer.ts';
import { Readback } from './readback.ts';
import { acquireDevice, type SharedDevice } from './shared-device.ts';

const DEFAULT_POOLED_BYTES = 512 * 2 ** 20;
const DEFAULT_TIMEOUT_MS = 60_000;

/**
 * A device, a stream of commands to it, and the memory they work on: what a backend stands on, and what is useful alone
 * to run user shaders. Clients of the same adapter share the device and its queue; each has its own stream,
 * which keeps the order of its calls.
 */
export class WebGpuClient implements PlannedDevice<StorageBuffer, LaunchPlan> {
  readonly traits: DeviceTraits;
  /** The settings that decide between kernel variants. */
  readonly tuning: DeviceTuning;
  /**
   * The first failure of work that was accepted, or the loss of the device. Waits reject with it. A kernel that does not
   * compile is none: it fails the ops that need it, and once a wait.
   */
  failure: BackendError | undefined;
  readonly #shared: SharedDevice;
  /** @internal What is planned goes straight to it. */
  readonly stream: PlannedDevice<StorageBuffer, LaunchPlan>['stream'];
  readonly #stream: CommandStream;
  readonly #pool: BufferPool;
  readonly #readback: Readback;
  readonly #allocations = new Map<number, StorageBuffer>();
  /** Checks of the device that are under way. */
  readonly #checks = new Set<Promise<void>>();
  readonly #listeners = new Set<(error: BackendError) => void>();
  readonly #refusals = new Refusals();
  #isDisposed = false;

  private constructor(shared: SharedDevice, options: WebGpuOptions) {
    this.#shared = shared;
    this.tuning = new DeviceTuning(webgpuVariants, this.deviceInfo, options);
    this.traits = { ...limitTraits(shared.traits, options), preferences: this.tuning.preferences };
    const onError = (error: BackendError): void => this.#fail(error);
    const onCheck = (check: Promise<void>): void => this.#watch(check);
    this.#pool = new BufferPool({
      context: shared,
      maxPooledBytes: options.maxPooledBytes ?? DEFAULT_POOLED_BYTES,
      onError,
      onCheck,
      flush: () => this.#stream.flush(),
    });
    this.#stream = new CommandStream({
      context: shared,
      traits: this.traits,
      pipelines: shared.pipelines,
      pool: this.#pool,
      onError,
      onRefusal: (error) => this.#refusals.add(error),
      onCheck,
    });
    this.stream = this.#stream;
    this.#readback = new Readback(shared, this.#stream, (caught, bytes) => this.#watchStaging(caught, bytes));
    void shared.lost.then(({ reason, message }) => {
      this.#fail(new BackendError('DEVICE_LOST', message || reason, { backend: 'webgpu' }));
    });
  }

  /**
   * Opens a device, or shares the one that is open.
   *
   * @throws {BackendError} BACKEND_UNAVAILABLE with reason and hint; INVALID_ARGUMENT for options out of range and for an
   *   adapter that is not there
   */
  static async open(options: WebGpuOptions = {}): Promise<WebGpuClient> {
    checkOptions(options);
    // Before a device is opened for it.
    tuningSettings(webgpuVariants, options);
    const { adapter, powerPreference } = options;
    const software = options.software === 'refuse' ? 'refuse' : undefined;
    const source = options.device ?? gpuSource(options);
    const shared = await acquireDevice(source, { adapter, powerPreference, software });
    try {
      return new WebGpuClient(shared, options);
    } catch (error) {
      shared.release();
      throw error;
    }
  }

  get device(): GPUDevice {
    return this.#shared.device;
  }

  get queue(): GPUQueue {
    return this.#shared.device.queue;
  }

  get adapterInfo(): GPUAdapterInfo {
    return this.#shared.info;
  }

  /** The device in the contract's terms. */
  get deviceInfo(): DeviceInfo {
    return describeAdapter(this.#shared.info);
  }

  /** Resolves when the device is lost. */
  get lost(): Promise<GPUDeviceLostInfo> {
    return this.#shared.lost;
  }

  /** Counters of this client's memory. */
  memory(): PoolCounters {
    return this.#pool.counters;
  }

  /** Returns whether a wait rejected with this error because the device refuses the kernel of an op: all others go on. */
  isRefusal(error: BackendError): boolean {
    return this.#refusals.has(error);
  }

  /** Plans without the type `f16` from now on, and so without matrix units. */
  renounceF16(): void {
    Object.assign(this.traits, { hasF16: false, matrixUnits: [] });
  }

  /** The code of a kernel as the device compiles it. */
  codeOf(kernel: Kernel): string {
    return this.#shared.pipelines.codeOf(kernel);
  }

  /** Rounds to binary16 by the device's own packing from now on. */
  packHalves(): void {
    this.#shared.pipelines.packsHalves = true;
  }

  /** Plans without matrix units from now on. */
  renounceMatrixUnits(): void {
    Object.assign(this.traits, { matrixUnits: [] });
  }

  /** The number of launches of each variant of a kernel family, by its id. */
  get variantRuns(): ReadonlyMap<string, number> {
    return this.#stream.runs.counts;
  }

  /** Calls `listener` with each failure of work that was accepted, and with the loss of the device. */
  onFailure(listener: (error: BackendError) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Storage memory, its size rounded up to a multiple of 4 bytes or more, its contents unspecified.
   *
   * @throws {BackendError} OUT_OF_MEMORY beyond the largest buffer; a later refusal is a failure. INVALID_ARGUMENT
   */
  allocate(bytes: number, label = 'storage'): StorageBuffer {
    this.#assertUsable('allocate');
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new BackendError('INVALID_ARGUMENT', `bytes must be a positive safe integer, got ${bytes}`);
    }
    const buffer = this.#pool.take(bytes, label);
    this.#allocations.set(buffer.id, buffer);
    return buffer;
  }

  /** The live allocation with this id. */
  find(id: number): StorageBuffer | undefined {
    return this.#allocations.get(id);
  }

  /** Gives memory back. Work queued so far may still use it. Whether there was such an allocation. */
  deallocate(id: number): boolean {
    const buffer = this.#allocations.get(id);
    if (buffer === undefined) return false;
    this.#allocations.delete(id);
    this.#pool.release(buffer);
    return true;
  }

  /** The GPU buffer of an allocation: the same until `deallocate`, and no other allocation lies in it. */
  bufferOf(buffer: StorageBuffer): GPUBuffer {
    this.#assertUsable('bufferOf');
    return this.#stream.bufferOf(buffer);
  }

  /**
   * Writes host memory in call order.
   *
   * @throws {BackendError} INVALID_ARGUMENT unless offset and length are multiples of 4
   */
  write(span: Span, bytes: Uint8Array): void {
    this.#assertUsable('write');
    if (span.byteOffset % 4 !== 0 || bytes.byteLength % 4 !== 0) {
      const given = `offset ${span.byteOffset} and ${bytes.byteLength} bytes`;
      throw new BackendError('INVALID_ARGUMENT', `write takes multiples of 4, got ${given}`);
    }
    this.#stream.write(span, bytes);
  }

  /**
   * Reads device memory as it is at this place in call order. `deliver` gets bytes that are valid during the call.
   *
   * @throws {BackendError} OUT_OF_MEMORY, DEVICE_ERROR, DEVICE_LOST
   */
  async read(span: Span, deliver: (bytes: Uint8Array) => void): Promise<void> {
    this.#assertUsable('read');
    const rejectIfRefused = this.#refusals.watch();
    try {
      await this.#readback.read(span, deliver);
    } catch (error) {
      await this.#settled();
      throw this.failure ?? error;
    }
    await this.#settled();
    if (this.failure !== undefined) throw this.failure;
    rejectIfRefused();
  }

  /**
   * Records the launches and copies of one op; `op` is its name in messages.
   *
   * @throws {BackendError} DEVICE_ERROR for a kernel that the device has refused. The first op that needs it is accepted
   *   before that is known: the waits under way, or else the next one, reject with the error.
   */
  record(op: string, plan: (recorder: Recorder) => void): void {
    this.#assertUsable(op);
    this.#stream.record(op, plan);
  }

  /** @internal What was planned for ops, to be queued again and again. */
  sequence(calls: readonly PlannedCall<StorageBuffer, LaunchPlan>[]): Sequence {
    return this.#stream.sequence(calls);
  }

  /** @internal Times what is launched from now on. */
  startTimer(): LaunchTimer {
    return new PassTimer(this.#shared, this.#stream);
  }

  /** Sets bytes to zero; offset and length are multiples of 4. */
  clear(span: Span): void {
    this.#stream.clear(span);
  }

  /**
   * Submits the caller's commands, in call order; `op` names them in messages. When `callback` throws, they are
   * dropped.
   *
   * @throws {BackendError} INVALID_ARGUMENT when `callback` does anything but add commands
   */
  encode(callback: (encoder: GPUCommandEncoder) => void, op = 'encode'): void {
    this.#assertUsable(op);
    this.#stream.encode(op, callback);
  }

  /**
   * Compiles a kernel ahead of its first launch; requests for the same source share one compilation.
   *
   * @throws {BackendError} DEVICE_ERROR with line and column when the source does not compile
   */
  compile(kernel: Kernel): Promise<CompiledKernel> {
    return this.#shared.pipelines.compile(kernel);
  }

  /** Submits what was recorded. */
  flush(): void {
    this.#stream.flush();
  }

  /**
   * Resolves when all work recorded so far is done.
   *
   * @throws {BackendError} OUT_OF_MEMORY, DEVICE_ERROR, DEVICE_LOST
   */
  async finish(): Promise<void> {
    this.#assertUsable('finish');
    const rejectIfRefused = this.#refusals.watch();
    this.#stream.flush();
    await this.idle();
    await this.#settled();
    if (this.failure !== undefined) throw this.failure;
    rejectIfRefused();
  }

  /** Resolves when the work submitted so far is done, well or not. */
  async idle(): Promise<void> {
    await this.#shared.awaiting(() => this.queue.onSubmittedWorkDone());
  }

  /**
   * Adds the caller's commands, submits, and waits until they are done.
   *
   * @param op - names the work in errors
   * @throws {BackendError} DEVICE_ERROR when it takes longer than `timeoutMs` (default 60 s); the work goes on.
   *   OUT_OF_MEMORY, DEVICE_LOST
   */
  async submitAndWait(
    op: string,
    callback: (encoder: GPUCommandEncoder) => void,
    options: { readonly timeoutMs?: number } = {},
  ): Promise<void> {
    this.encode(callback, op);
    await within(options.timeoutMs ?? DEFAULT_TIMEOUT_MS, op, this.finish());
  }

  /** Ends this client: its memory goes back, and with the last client of a device the device. Idempotent. */
  dispose(): void {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    this.#stream.destroy();
    this.#readback.destroy();
    for (const buffer of this.#allocations.values()) this.#pool.release(buffer);
    this.#allocations.clear();
    this.#pool.clear();
    this.#shared.release();
  }

  #assertUsable(op: string): void {
    if (this.#isDisposed) throw new BackendError('DISPOSED', '', { op });
    if (this.failure?.code === 'DEVICE_LOST') throw this.failure;
  }

  #watchStaging(caught: Scoped<unknown>['caught'], requestedBytes: number): void {
    const check = async (): Promise<void> => {
      const error = await caught;
      if (error === undefined) return;
      const { code, detail, cause } = toCodedError(error, 'copyDtoh', `${requestedBytes} bytes of staging memory: `);
      this.#fail(new BackendError(code, detail, { op: 'copyDtoh', requestedBytes, cause }));
    };
    this.#watch(check());
  }

  async #settled(): Promise<void> {
    await Promise.all(this.#checks);
  }

  #watch(check: Promise<void>): void {
    this.#checks.add(check);
    void check.finally(() => this.#checks.delete(check));
  }

  #fail(error: BackendError): void {
    this.failure ??= error;
    for (const listener of this.#listeners) listener(error);
  }
}

function limitTraits(traits: DeviceTraits, options: WebGpuOptions): DeviceTraits {
  const bytes = Math.min(traits.maxBindingBytes, options.maxBindingBytes ?? Infinity);
  return {
    ...traits,
    maxBindingBytes: Math.floor(bytes / 4) * 4,
    maxWorkgroupsPerDimension: Math.min(
      traits.maxWorkgroupsPerDimension,
      options.maxWorkgroupsPerDimension ?? Infinity,
    ),
  };
}
