import type { AllocOptions, MemoryInfo, WaitOptions } from '../contract/backend.ts';
import { checkMemoryLimit, checkOptions, checkPointerType } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { checkAlloc, checkCopyDtod, checkFill, viewBytes } from '../contract/memory.validate.ts';
import { annotate, BackendError, isBackendError, toBackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { releaseSlot, SLOT_BYTES, takeSlot } from './address-slots.ts';
import { AllocationTable } from './allocation-table.ts';
import type { Capture } from './capture.ts';
import { BackendLifecycle } from './lifecycle.ts';
import type { Operand } from './operand.ts';
import { reading } from '../errors/reading.ts';

/** Options that every backend takes. */
export interface BaseBackendOptions {
  /** `alloc` throws OUT_OF_MEMORY when more than this would be in use. Default: no limit but the device's. */
  readonly memoryLimitBytes?: number;
}

/**
 * The contract's memory and waits, checked once for all backends. The author of a backend writes the `do...` methods: each
 * gets checked arguments and native memory, returns at once, and takes effect in call order.
 *
 * @typeParam Buffer - the backend's native memory object
 */
export abstract class MemoryMethods<Buffer> extends BackendLifecycle {
  /** Allocates native memory; throws OUT_OF_MEMORY when the device has none. */
  protected abstract doAlloc(bytes: number, label: string | undefined): Buffer;
  /** Releases native memory once the work queued so far no longer needs it. */
  protected abstract doFree(buffer: Buffer): void;
  /** Queues a copy of `src`, which the caller may change as soon as this returns. */
  protected abstract doCopyHtod(dst: Operand<Buffer>, src: Uint8Array): void;
  /**
   * Queues a read; calls `deliver` with the bytes when they are there, then resolves. A backend that polls may stop when
   * `isWanted` turns false: no call waits any more.
   */
  protected abstract doCopyDtoh(
    src: Operand<Buffer>,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void>;
  /** Queues a copy between two ranges that do not overlap but may lie in one buffer. */
  protected abstract doCopyDtod(dst: Operand<Buffer>, src: Operand<Buffer>): void;
  /** Queues setting every byte of a range. */
  protected abstract doFill(dst: Operand<Buffer>, byte: number): void;
  /** Resolves when the work queued so far is done, or `isWanted` has turned false. */
  protected abstract doSynchronize(isWanted: () => boolean): Promise<void>;
  /** Submits queued work, where the backend batches. */
  protected doFlush(): void {}

  /** Freed native memory that is kept for reuse. */
  protected pooledBytes(): number {
    return 0;
  }

  #slot: number | undefined;
  #allocations: AllocationTable<Buffer> | undefined;
  /** The live allocations as long as calls are taken. */
  protected usableMemory: AllocationTable<Buffer> | undefined;
  readonly #memoryLimitBytes: number | undefined;
  /** The largest size of one allocation. */
  #maxBytes = 0;
  /** The recording in progress. */
  protected capture: Capture<Buffer> | undefined;
  /** The recordings that are not disposed. */
  protected readonly captures: Set<Capture<Buffer>> = new Set();

  constructor(options: BaseBackendOptions = {}) {
    super();
    checkOptions(options);
    const { memoryLimitBytes } = options;
    checkMemoryLimit(memoryLimitBytes);
    this.#memoryLimitBytes = memoryLimitBytes;
  }

  /** The live allocations; there are none before `init`. */
  protected get allocations(): AllocationTable<Buffer> {
    if (this.#allocations === undefined) throw this.notReady();
    return this.#allocations;
  }

  protected override beforeInit(): void {
    this.#slot = takeSlot(this);
    this.#allocations = new AllocationTable(this.#slot * SLOT_BYTES, SLOT_BYTES);
  }

  protected override usableChanged(isUsable: boolean): void {
    this.usableMemory = isUsable ? this.#allocations : undefined;
    if (isUsable) this.#maxBytes = this.capabilities.limits.maxAllocationBytes;
  }

  /** The live allocations, for a call: while the object is usable {@link usableMemory} is the same, and spares to ask. */
  protected memoryFor(op: string): AllocationTable<Buffer> {
    this.assertUsable(op);
    return this.allocations;
  }

  alloc(bytes: number, options?: AllocOptions): DevicePtr {
    const memory = this.usableMemory ?? this.memoryFor('alloc');
    try {
      const isPlain = options === undefined && Number.isSafeInteger(bytes) && bytes > 0;
      const label = isPlain
        ? undefined
        : reading('alloc', () => checkAlloc(bytes, options === undefined ? {} : options));
      this.#checkRoom(bytes, memory.inUseBytes);
      const recording = this.capture?.isRecording === true ? this.capture : undefined;
      const buffer = recording?.takeFreed(bytes) ?? this.#nativeAlloc(bytes, label, memory.inUseBytes);
      try {
        const ptr = memory.add(bytes, buffer, label);
        recording?.allocated(buffer);
        return ptr;
      } catch (error) {
        this.doFree(buffer);
        throw error;
      }
    } catch (error) {
      throw this.failure('alloc', error);
    }
  }

  /** @throws {BackendError} OUT_OF_MEMORY */
  #checkRoom(bytes: number, inUseBytes: number): void {
    const maxAllocationBytes = this.#maxBytes;
    const limitBytes = this.#memoryLimitBytes ?? Infinity;
    if (bytes <= maxAllocationBytes && inUseBytes + bytes <= limitBytes) return;
    const fields = { requestedBytes: bytes, inUseBytes, backend: this.name };
    if (bytes <= maxAllocationBytes) {
      const detail = `${bytes} bytes wanted, ${inUseBytes} of ${limitBytes} in use`;
      throw new BackendError('OUT_OF_MEMORY', detail, { ...fields, limitBytes });
    }
    throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest allocation, ${maxAllocationBytes}`, {
      ...fields,
      limitBytes: maxAllocationBytes,
    });
  }

  free(ptr: DevicePtr): void {
    if (this.isDead) return;
    const memory = this.usableMemory ?? this.memoryFor('free');
    try {
      checkPointerType('ptr', ptr);
      const freed = memory.remove(ptr);
      let isKept = false;
      if (this.captures.size > 0) for (const capture of this.captures) if (capture.freed(freed)) isKept = true;
      if (!isKept) this.doFree(freed.buffer);
    } catch (error) {
      throw this.failure('free', error);
    }
  }

  copyHtod(dst: DevicePtr, src: ArrayBufferView): void {
    this.guard('copyHtod', () => {
      checkPointerType('dst', dst);
      const bytes = viewBytes('src', src);
      if (bytes.byteLength === 0) return;
      const to = this.allocations.resolve('dst', dst, bytes.byteLength);
      this.capture?.uses('copyHtod', [{ ...to, alignment: 1, isWritten: true }]);
      this.doCopyHtod(to, bytes);
      if (this.capture?.isRecording !== true) return;
      const copy = bytes.slice();
      this.capture.memory([to], ([target]) => this.doCopyHtod(target as Operand<Buffer>, copy));
    });
  }

  copyDtoh(dst: ArrayBufferView, src: DevicePtr, options?: WaitOptions): Promise<void> {
    return this.wait('copyDtoh', options, (isWanted) => {
      this.capture?.refuse('copyDtoh');
      checkPointerType('src', src);
      const { byteLength } = viewBytes('dst', dst);
      if (byteLength === 0) return Promise.resolve();
      return this.#accepted(
        'copyDtoh',
        this.doCopyDtoh(
          this.allocations.resolve('src', src, byteLength),
          (bytes) => {
            if (!isWanted()) return;
            // Looked at again: the view may have been detached or shrunk during the wait.
            const host = viewBytes('dst', dst);
            if (host.byteLength < bytes.byteLength) throw invalid('dst is detached or out of bounds of its buffer');
            host.set(bytes);
          },
          isWanted,
        ),
      );
    });
  }

  copyDtod(dst: DevicePtr, src: DevicePtr, bytes: number): void {
    this.guard('copyDtod', () => {
      checkCopyDtod(dst, src, bytes);
      if (bytes === 0) return;
      const to = this.allocations.resolve('dst', dst, bytes);
      const from = this.allocations.resolve('src', src, bytes);
      if (Math.abs(dst - src) < bytes) throw invalid(`dst overlaps src${this.allocations.placeOf(dst)}`);
      this.capture?.uses('copyDtod', [
        { ...from, alignment: 1, isWritten: false },
        { ...to, alignment: 1, isWritten: true },
      ]);
      this.doCopyDtod(to, from);
      this.capture?.memory([from, to], ([source, target]) =>
        this.doCopyDtod(target as Operand<Buffer>, source as Operand<Buffer>),
      );
    });
  }

  fill(dst: DevicePtr, byte: number, bytes: number): void {
    this.guard('fill', () => {
      checkFill(dst, byte, bytes);
      if (bytes === 0) return;
      const to = this.allocations.resolve('dst', dst, bytes);
      this.capture?.uses('fill', [{ ...to, alignment: 1, isWritten: true }]);
      this.doFill(to, byte);
      this.capture?.memory([to], ([target]) => this.doFill(target as Operand<Buffer>, byte));
    });
  }

  flush(): void {
    this.guard('flush', () => this.doFlush());
  }

  synchronize(options?: WaitOptions): Promise<void> {
    return this.wait('synchronize', options, (isWanted) => {
      this.capture?.refuse('synchronize');
      return this.#accepted('synchronize', this.doSynchronize(isWanted));
    });
  }

  memory(): MemoryInfo {
    // Not `assertUsable`: the counters matter most after a failure.
    if (!this.isInitialized) this.assertUsable('memory');
    const { inUseBytes, peakBytes, liveAllocations } = this.allocations;
    let pooledBytes = this.pooledBytes();
    for (const capture of this.captures) pooledBytes += capture.spareBytes;
    const limitBytes = this.#memoryLimitBytes;
    const info = { inUseBytes, pooledBytes, peakBytes, liveAllocations };
    return limitBytes === undefined ? info : { ...info, limitBytes };
  }

  protected override afterClose(): void {
    if (this.#slot !== undefined) releaseSlot(this, this.#slot);
    this.#slot = undefined;
  }

  /** The native memory that is live now, for `doDispose` and for device tools. */
  protected *liveBuffers(): Generator<Buffer> {
    for (const { buffer } of this.allocations.allocations()) yield buffer;
    for (const capture of this.captures) yield* capture.spareBuffers();
  }

  /** The native memory around a live pointer, for `native`. */
  protected operandAt(ptr: DevicePtr): Operand<Buffer> {
    return this.guard('native', () => {
      const allocation = this.allocations.find(ptr);
      const byteLength = allocation === undefined ? 0 : allocation.base + allocation.bytes - ptr;
      return this.allocations.resolve('ptr', ptr, byteLength);
    });
  }

  /** Device memory, or an error that says how much was wanted. */
  #nativeAlloc(bytes: number, label: string | undefined, inUseBytes: number): Buffer {
    try {
      return this.doAlloc(bytes, label);
    } catch (error) {
      if (!isBackendError(error, 'OUT_OF_MEMORY')) throw error;
      throw annotate(error, { requestedBytes: bytes, inUseBytes, backend: this.name });
    }
  }

  /**
   * Returns whether an error that `doSynchronize` or `doCopyDtoh` rejected with ends the object. The error of a single
   * op, such as one whose kernel does not compile, does not: it is for this wait only. Default: true.
   */
  protected isSticky(_error: BackendError): boolean {
    return true;
  }

  /** Waits for work that was accepted: what the device makes of it from here on is sticky. */
  async #accepted(op: string, work: Promise<void>): Promise<void> {
    try {
      await work;
    } catch (cause) {
      const error = annotate(toBackendError(cause, 'DEVICE_ERROR'), { op });
      const isFailure = error.code === 'DEVICE_ERROR' || error.code === 'OUT_OF_MEMORY';
      if (isFailure && this.isSticky(error)) this.reportFailure(error);
      throw error;
    }
  }

  /** Runs a method's body: what it throws says which backend and op it was. */
  protected guard<T>(op: string, action: () => T): T {
    this.assertUsable(op);
    try {
      return action();
    } catch (error) {
      throw this.failure(op, error);
    }
  }

  /** Returns the error that a method throws for one in its body. */
  protected failure(op: string, error: unknown): BackendError {
    return annotate(toBackendError(error, 'DEVICE_ERROR'), { backend: this.name, op });
  }
}
