import { BackendError, type DeviceInfo } from '@concord/backend-core';
import type { LaunchTimer, Sequence } from '@concord/backend-core/implement';
import { DeviceTuning, type PlannedCall, type PlannedDevice, type PoolCounters } from '@concord/variants';
import { type LevelZeroLibrary, loadLevelZero, unavailable } from '../ffi/load.ts';
import { levelZeroVariants } from '../kernels/families.ts';
import type { Kernel } from '../kernels/kernel.ts';
import type { OpPlan } from '../kernels/op-plan.ts';
import type { DeviceMemory, DeviceTraits, Launch, Recorder, Span } from '../kernels/recorder.ts';
import { BinaryCache } from './binary-cache.ts';
import { checkSource, type ModuleConstant } from './build-module.ts';
import { checkGroupCounts, type UserArgument, UserKernels } from './user-kernel.ts';
import { checkNativeOptions, checkOptions, type LevelZeroOptions, usesModuleCache } from './options.ts';
import { chooseDevice, listDevices, type ListedDevice } from './list-devices.ts';
import { CommandStream } from './command-stream.ts';
import { EventTimer } from './event-timer.ts';
import { type HostBlock, HostBlocks } from './staging.ts';
import type { LoadedModule } from './loaded-module.ts';
import { type Allocation, MemoryPool } from './memory-pool.ts';
import { type BuildLog, ModuleCache } from './module-cache.ts';
import { OpenDevice } from './open-device.ts';
import { Submissions } from './submissions.ts';
import { readTraits } from './traits.ts';

const DEFAULT_POOLED_BYTES = 256 * 2 ** 20;

/** Options of building a user's module. */
export interface LoadOptions {
  /** The name for messages. */
  readonly name?: string;
  readonly constants?: readonly ModuleConstant[];
  /** Options of the driver's compiler. */
  readonly flags?: string;
}

/**
 * A device, a stream of commands to it, and the memory they work on: what a backend stands on, and what is useful alone
 * to run user kernels. Each client has its own context, queue and memory.
 */
export class LevelZeroClient implements PlannedDevice<DeviceMemory, OpPlan> {
  readonly traits: DeviceTraits;
  readonly deviceInfo: DeviceInfo;
  /** The settings that decide between kernel variants. */
  readonly tuning: DeviceTuning;
  /** The raw handles, with the library that they belong to. */
  readonly native: OpenDevice;
  readonly library: LevelZeroLibrary;
  /** The first failure of work that was accepted, or the loss of the device. Waits reject with it. */
  failure: BackendError | undefined;
  readonly #submissions: Submissions;
  readonly #modules: ModuleCache;
  readonly #userKernels: UserKernels;
  readonly #pool: MemoryPool;
  readonly #blocks: HostBlocks;
  /** @internal What is planned goes straight to it. */
  readonly stream: PlannedDevice<DeviceMemory, OpPlan>['stream'];
  readonly #stream: CommandStream;
  readonly #allocations = new Map<number, Allocation>();
  readonly #listeners = new Set<(error: BackendError) => void>();
  #isDisposed = false;

  private constructor(library: LevelZeroLibrary, listed: ListedDevice, options: LevelZeroOptions) {
    this.library = library;
    this.deviceInfo = listed.info;
    this.tuning = new DeviceTuning(levelZeroVariants, listed.info, options);
    const { matrixEngine, plainAllocationBytes, ...reported } = readTraits(library, listed);
    this.traits = {
      ...reported,
      matrixEngine: options.matrixEngines === 'off' ? undefined : matrixEngine,
      preferences: this.tuning.preferences,
    };
    const device = new OpenDevice(library, listed);
    this.native = device;
    device.onLost = (error) => this.#fail(error);
    this.#submissions = new Submissions(device, (error) => this.#fail(error));
    const isSoftware = listed.info.type === 'software';
    const binaries = usesModuleCache(options, isSoftware) ? BinaryCache.open(library, listed) : undefined;
    this.#modules = new ModuleCache(device, binaries);
    this.#userKernels = new UserKernels(device, this.traits);
    this.#blocks = new HostBlocks(device, this.#submissions);
    this.#pool = new MemoryPool({
      device,
      submissions: this.#submissions,
      maxAllocationBytes: this.traits.maxAllocationBytes,
      plainAllocationBytes,
      maxPooledBytes: options.maxPooledBytes ?? DEFAULT_POOLED_BYTES,
      flush: () => this.#stream.flush(),
      releaseHost: () => this.#blocks.releaseIdle(),
    });
    this.#stream = new CommandStream({
      device,
      traits: this.traits,
      submissions: this.#submissions,
      modules: this.#modules,
      pool: this.#pool,
      blocks: this.#blocks,
    });
    this.stream = this.#stream;
  }

  /**
   * Opens a device.
   *
   * @throws {BackendError} BACKEND_UNAVAILABLE with reason and hint; INVALID_ARGUMENT for options out of range and for a device
   *   that is not there
   */
  static async open(options: LevelZeroOptions = {}): Promise<LevelZeroClient> {
    checkOptions(options);
    const library = await loadLevelZero(options.library);
    const chosen = chooseDevice(listDevices(library), options);
    try {
      return new LevelZeroClient(library, chosen, options);
    } catch (error) {
      throw unavailable('failed', `${chosen.info.name} does not open: ${String(error)}`, 'restart the process', error);
    }
  }

  /** Counters of this client's memory. */
  memory(): PoolCounters {
    return this.#pool.counters;
  }

  /** The output of the driver's compiler for the modules that were built, also of those that it accepted. */
  get buildLogs(): readonly BuildLog[] {
    return this.#modules.logs;
  }

  /** The number of launches of each variant of a kernel family, by its id. */
  get variantRuns(): ReadonlyMap<string, number> {
    return this.#stream.variantRuns;
  }

  /** Calls `listener` with each failure of work that was accepted, and with the loss of the device. */
  onFailure(listener: (error: BackendError) => void): void {
    this.#listeners.add(listener);
  }

  /**
   * Device memory; its contents are unspecified.
   *
   * @throws {BackendError} OUT_OF_MEMORY, INVALID_ARGUMENT
   */
  allocate(bytes: number, label = 'memory'): Allocation {
    this.#assertUsable('allocate');
    if (!(Number.isSafeInteger(bytes) && bytes > 0)) {
      throw new BackendError('INVALID_ARGUMENT', `bytes must be a positive safe integer, got ${bytes}`);
    }
    const memory = this.#pool.take(bytes, label);
    this.#allocations.set(memory.id, memory);
    return memory;
  }

  /** Gives memory back. Work queued so far may still use it. Whether there was such an allocation. */
  deallocate(id: number): boolean {
    const memory = this.#allocations.get(id);
    if (memory === undefined) return false;
    this.#allocations.delete(id);
    this.#pool.release(memory);
    return true;
  }

  /** Writes host memory in call order; it may be changed when this returns. */
  write(dst: Span, bytes: Uint8Array): void {
    this.#assertUsable('write');
    this.#stream.write(dst, bytes);
  }

  /**
   * Reads device memory as it is at this place in call order. `deliver` gets bytes that are valid during the call; it is
   * not called when `isWanted` has turned false.
   *
   * @throws {BackendError} OUT_OF_MEMORY at once, for want of host memory; DEVICE_ERROR, DEVICE_LOST
   */
  read(src: Span, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean = () => true): Promise<void> {
    this.#assertUsable('read');
    const block = this.#blocks.take(src.byteLength);
    try {
      this.#stream.copyOut(block, src);
      this.#stream.flush();
    } catch (error) {
      this.#blocks.giveBack(block, this.#submissions.next);
      throw error;
    }
    return this.#deliver(block, src.byteLength, deliver, isWanted);
  }

  /** Copies between two ranges that do not overlap. */
  copy(dst: Span, src: Span): void {
    this.record('copyDtod', (recorder) => recorder.copy(dst, src));
  }

  /** Sets every byte of a span. */
  fill(dst: Span, byte: number): void {
    this.#assertUsable('fill');
    this.#stream.fill(dst, byte);
  }

  /** Records the launches and copies of one op; `op` is its name in messages. */
  record(op: string, plan: (recorder: Recorder) => void): void {
    this.#assertUsable(op);
    this.#stream.record(op, plan);
  }

  /** @internal Times what is launched from now on. */
  startTimer(): LaunchTimer {
    return new EventTimer(this.native, this.#stream, () => this.finish());
  }

  /** @internal What was planned for ops, to be queued again and again. */
  sequence(calls: readonly PlannedCall<DeviceMemory, OpPlan>[]): Sequence {
    return {
      run: () => {
        for (const { op, plan, operands, params } of calls) this.#stream.run(op, plan, operands, params);
      },
      release: () => undefined,
    };
  }

  /**
   * Builds a kernel ahead of its first launch, on this thread.
   *
   * @throws {BackendError} DEVICE_ERROR with the build log
   */
  compileNow(kernel: Kernel, hasLargeBuffers = false): void {
    this.#assertUsable('prepare');
    this.#modules.kernel(kernel, hasLargeBuffers);
  }

  /**
   * Builds a kernel ahead of its first launch, on another thread.
   *
   * @throws {BackendError} DEVICE_ERROR with the build log
   */
  async compile(kernel: Kernel, hasLargeBuffers = false): Promise<void> {
    this.#assertUsable('prepare');
    await this.#modules.compile(kernel, hasLargeBuffers);
  }

  /** @internal What the driver's compiler made of a kernel, for tools that look into it. */
  nativeBinary(kernel: Kernel): Uint8Array | undefined {
    return this.#modules.nativeBinary(kernel);
  }

  /**
   * Builds a user's SPIR-V module. The same source gives the same module.
   *
   * @throws {BackendError} DEVICE_ERROR with the build log; INVALID_ARGUMENT for what are no words of a module
   */
  load(words: Uint32Array, options: LoadOptions = {}): LoadedModule {
    this.#assertUsable('load');
    checkNativeOptions(options, ['name', 'constants', 'flags'], ['name', 'flags']);
    const { name = 'module', constants = [], flags } = options;
    checkSource(words, constants);
    return this.#modules.module({ name, words, constants, flags });
  }

  /**
   * Launches a kernel of a loaded module, in call order.
   *
   * @param options - `groupSize` is needed where the module has no LocalSize
   * @throws {BackendError} INVALID_ARGUMENT
   */
  launch(
    module: LoadedModule,
    name: string,
    args: readonly UserArgument[],
    groups: Launch['groups'],
    options: { readonly groupSize?: readonly [number, number, number] | undefined } = {},
  ): void {
    this.#assertUsable('launch');
    checkNativeOptions(options, ['groupSize']);
    checkGroupCounts(groups, this.traits);
    this.#stream.record(name, () => {
      const kernel = this.#userKernels.prepare(module, name, args, options.groupSize);
      this.#stream.launchKernel(kernel.handle, groups, name);
    });
  }

  /** Submits what was recorded. */
  flush(): void {
    this.#assertUsable('flush');
    this.#stream.flush();
  }

  /**
   * Resolves when all work recorded so far is done, or when `isWanted` has turned false.
   *
   * @throws {BackendError} DEVICE_ERROR, DEVICE_LOST
   */
  async finish(isWanted: () => boolean = () => true): Promise<void> {
    this.#assertUsable('finish');
    this.#stream.flush();
    await this.#submissions.wait(this.#submissions.submitted, isWanted);
    this.#pool.collect();
    if (this.failure !== undefined) throw this.failure;
  }

  /**
   * Ends this client: waits for its work, at most this long, and frees what it holds. What work in flight may use is left
   * to the driver instead. Idempotent.
   */
  async dispose(timeoutMs = 5_000): Promise<void> {
    if (this.#isDisposed) return;
    this.#isDisposed = true;
    const deadline = performance.now() + timeoutMs;
    const isIdle = await this.#idle(() => performance.now() < deadline);
    if (!isIdle) return;
    await Promise.all([this.#modules.settled(), this.#submissions.settled()]);
    this.#pool.destroy(this.#allocations.values());
    this.#allocations.clear();
    this.#stream.clear();
    this.#blocks.clear();
    this.#modules.destroy();
    if (this.#submissions.destroy()) this.native.destroy();
  }

  async #deliver(
    block: HostBlock,
    byteLength: number,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void> {
    const sequence = this.#submissions.submitted;
    try {
      const isDone = await this.#submissions.wait(sequence, isWanted);
      if (isDone) deliver(block.bytes.subarray(0, byteLength));
    } finally {
      this.#blocks.giveBack(block, sequence);
    }
  }

  async #idle(isWanted: () => boolean): Promise<boolean> {
    try {
      return await this.#submissions.wait(this.#submissions.submitted, isWanted);
    } catch {
      return false;
    }
  }

  #assertUsable(op: string): void {
    if (this.#isDisposed) throw new BackendError('DISPOSED', '', { op });
    if (this.failure?.code === 'DEVICE_LOST') throw this.failure;
  }

  #fail(error: BackendError): void {
    if (this.failure !== undefined && error.code !== 'DEVICE_LOST') return;
    if (this.failure?.code === 'DEVICE_LOST') return;
    this.failure = error;
    for (const listener of this.#listeners) listener(error);
  }
}
