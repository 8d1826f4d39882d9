import { BackendError } from '@concord/backend-core';
import { FreeBlocks, LARGEST_ROUNDED, type PoolCounters, sizeClass } from '@concord/variants';
import { isOutOfMemory, RESULTS } from '../ffi/result.ts';
import { ENUMS, NativeBytes, Struct, structSize } from '../ffi/structs.ts';
import type { DeviceMemory } from '../kernels/recorder.ts';
import type { OpenDevice } from './open-device.ts';
import type { Submissions } from './submissions.ts';

/** Options of a {@link MemoryPool}. */
export interface PoolOptions {
  readonly device: OpenDevice;
  readonly submissions: Submissions;
  readonly maxAllocationBytes: number;
  /** Larger allocations want the driver's exception to its own limit. */
  readonly plainAllocationBytes: number;
  /** The maximum number of bytes that are kept for reuse. */
  readonly maxPooledBytes: number;
  /** Submits what is recorded. */
  readonly flush: () => void;
  /** Frees host memory that is kept for copies, which on some devices is device memory too. Whether there was any. */
  readonly releaseHost: () => boolean;
}

/** One allocation of the driver's. */
interface Block {
  readonly address: bigint;
  readonly size: number;
}

/** Device memory that is handed out. The halves of its address are numbers, because arguments are set without BigInts. */
export interface Allocation extends DeviceMemory {
  readonly block: Block;
  readonly addressLow: number;
  readonly addressHigh: number;
}

/** Operands are aligned to their elements; vectors and cache lines like more. */
const ALIGNMENT = 256;
/** The time for which an allocation that the device refuses waits for memory that work in flight still uses. */
const SHORTAGE_WAIT_MS = 5_000;

let lastId = 0;

/**
 * Device memory, reused by size class. A block that is taken again may still be in use by work queued before; that is
 * safe because commands run one after the other. Each stream needs its own pool for that reason.
 */
export class MemoryPool {
  readonly #options: PoolOptions;
  readonly #free: FreeBlocks<Block>;
  /** Removed from the pool, but perhaps in use until this submit is done; oldest first. */
  #retired: { readonly block: Block; readonly until: number }[] = [];
  #allocatedBytes = 0;
  #retiredBytes = 0;
  #peakBytes = 0;
  #live = 0;
  readonly #slot = new BigUint64Array(1);
  readonly #description = new Struct('ze_device_mem_alloc_desc_t').bytes;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#free = new FreeBlocks(options.maxPooledBytes, (block) => this.#retire(block));
  }

  get counters(): PoolCounters {
    return {
      allocatedBytes: this.#allocatedBytes,
      pooledBytes: this.#free.bytes,
      retiredBytes: this.#retiredBytes,
      peakBytes: this.#peakBytes,
      live: this.#live,
    };
  }

  /**
   * Memory of at least `bytes`; its contents are unspecified.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  take(bytes: number, label: string): Allocation {
    const { maxAllocationBytes } = this.#options;
    if (bytes > maxAllocationBytes) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest allocation, ${maxAllocationBytes}`, {
        requestedBytes: bytes,
        limitBytes: maxAllocationBytes,
      });
    }
    const size = Math.min(sizeClass(bytes, ALIGNMENT), maxAllocationBytes);
    const block = this.#free.take(size) ?? this.#create(size, bytes, label);
    this.#live++;
    const { address } = block;
    const addressLow = Number(BigInt.asUintN(32, address));
    return { id: ++lastId, address, size: bytes, block, addressLow, addressHigh: Number(address >> 32n) };
  }

  /** Gives memory back. Work queued so far may still use it. */
  release({ block }: Allocation): void {
    this.#live--;
    if (block.size > LARGEST_ROUNDED) {
      // Blocks that large are rare enough to be allocated and freed one by one.
      this.#retire(block);
      // Large memory should not wait for the next flush of a program that only allocates.
      this.#options.flush();
      this.collect();
      return;
    }
    const retired = this.#retired.length;
    this.#free.keep(block);
    if (this.#retired.length > retired) this.collect();
  }

  /** Gives up pooled blocks, those of the largest classes first, until at most `bytes` are kept. */
  trim(bytes: number): void {
    this.#free.trim(bytes);
    this.collect();
  }

  /** Frees retired blocks that are no longer in use. */
  collect(): void {
    if (this.#retired.length === 0) return;
    const done = this.#options.submissions.poll();
    const gone = this.#retired.filter(({ until }) => until <= done);
    if (gone.length === 0) return;
    this.#retired = this.#retired.filter(({ until }) => until > done);
    for (const { block } of gone) this.#destroy(block);
  }

  /** Frees what is handed out, pooled and retired. To be called when no work is in flight, nor will be. */
  destroy(handedOut: Iterable<Allocation>): void {
    for (const { block } of handedOut) this.#freeNow(block);
    this.#live = 0;
    this.#free.trim(0);
    for (const { block } of this.#retired.splice(0)) this.#destroy(block);
  }

  #retire(block: Block): void {
    const { submissions } = this.#options;
    // With nothing recorded, the last submit is the last that can use it: `next` might never come.
    this.#retired.push({ block, until: submissions.isRecording ? submissions.next : submissions.submitted });
    this.#retiredBytes += block.size;
  }

  #destroy(block: Block): void {
    this.#retiredBytes -= block.size;
    this.#freeNow(block);
  }

  #freeNow({ address, size }: Block): void {
    this.#options.device.free(address);
    this.#allocatedBytes -= size;
  }

  #create(size: number, requestedBytes: number, label: string): Block {
    let result = this.#allocate(size);
    if (isOutOfMemory(result) && this.#makeRoom()) result = this.#allocate(size);
    if (result !== RESULTS.SUCCESS) {
      const error = this.#options.device.error(result, 'zeMemAllocDevice', {
        requestedBytes,
        inUseBytes: this.#allocatedBytes - this.#free.bytes - this.#retiredBytes,
      });
      if (error.code !== 'OUT_OF_MEMORY') throw error;
      const { status, inUseBytes } = error;
      const detail = `${requestedBytes} bytes for ${label}, ${inUseBytes} in use: ${error.detail}`;
      throw new BackendError('OUT_OF_MEMORY', detail, { requestedBytes, inUseBytes, status });
    }
    this.#allocatedBytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#allocatedBytes);
    return { address: this.#slot[0] as bigint, size };
  }

  #allocate(size: number): number {
    const { api, context, device, koffi } = this.#options.device;
    const allocate = (description: Uint8Array): number =>
      api.zeMemAllocDevice(context, description, size, ALIGNMENT, device, this.#slot);
    if (size <= this.#options.plainAllocationBytes) return allocate(this.#description);
    const memory = new NativeBytes(koffi, structSize('ze_relaxed_allocation_limits_exp_desc_t'));
    try {
      new Struct('ze_relaxed_allocation_limits_exp_desc_t', memory.bytes).set(
        'flags',
        ENUMS.ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE,
      );
      return allocate(new Struct('ze_device_mem_alloc_desc_t').set('pNext', memory.address).bytes);
    } finally {
      memory.free();
    }
  }

  /** Gives all unused memory back to the device, waiting for work in flight. Returns whether there was any. */
  #makeRoom(): boolean {
    const before = this.#allocatedBytes;
    const hadHost = this.#options.releaseHost();
    this.trim(0);
    if (this.#retired.length > 0) {
      const { submissions, flush } = this.#options;
      flush();
      submissions.waitNow(submissions.submitted, SHORTAGE_WAIT_MS);
      this.collect();
    }
    return hadHost || this.#allocatedBytes < before;
  }
}
