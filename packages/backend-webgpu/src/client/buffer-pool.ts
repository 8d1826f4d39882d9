import { BackendError } from '@concord/backend-core';
import { FreeBlocks, LARGEST_ROUNDED, type PoolCounters, sizeClass } from '@concord/variants';
import type { Backing, StorageBuffer } from '../kernels/recorder.ts';
import { inScopes, toCodedError } from './errors.ts';
import { type GpuContext, USAGE } from './gpu-source.ts';
import { MAX_PIECE, SLAB_BYTES, Slabs } from './slabs.ts';

/** Options of a {@link BufferPool}. */
export interface PoolOptions {
  readonly context: GpuContext;
  /** The maximum number of bytes that are kept for reuse. */
  readonly maxPooledBytes: number;
  /** An allocation that the device refused after the fact. */
  readonly onError: (error: BackendError) => void;
  /** A check of the device that is under way; settles before the work that uses the memory. */
  readonly onCheck: (check: Promise<void>) => void;
  /** Submits what is recorded and calls `destroyRetired`. */
  readonly flush: () => void;
}

/** Sizes that were given up and are known. */
const MAX_GIVEN_UP = 1024;
/** Memory that may wait for a submit; more of it asks for one. */
const MAX_RETIRED_BYTES = 256 * 2 ** 20;

let lastId = 0;

/**
 * Storage buffers, reused by size class. A buffer that is taken again may still be in use by work queued before; that is
 * safe because commands run in the order they are submitted in. Each stream needs its own pool for that reason.
 */
export class BufferPool {
  readonly #options: PoolOptions;
  /** Asking the device or a buffer takes longer than everything else here. */
  readonly #maxBufferSize: number;
  readonly #free: FreeBlocks<Backing>;
  readonly #slabs = new Slabs(
    () => this.#free.take(SLAB_BYTES) ?? this.#create(SLAB_BYTES, SLAB_BYTES, 'small allocations'),
    (whole) => this.#free.keep(whole),
  );
  /** Sizes that were given up to make room for another. */
  readonly #givenUp = new Set<number>();
  /** Removed from the pool, but perhaps in use by commands that are not submitted yet. */
  #retired: Backing[] = [];
  #allocatedBytes = 0;
  /** The number of times that memory moved: objects made for the old place must be made again. */
  moves = 0;
  #retiredBytes = 0;
  #peakBytes = 0;
  #live = 0;

  constructor(options: PoolOptions) {
    this.#options = options;
    this.#free = new FreeBlocks(options.maxPooledBytes, (backing) => this.#retire(backing));
    this.#maxBufferSize = options.context.device.limits.maxBufferSize;
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
   * Memory of `bytes`, rounded up to a multiple of 4; its contents are unspecified. Small memory has no backing yet: what
   * it is used for first decides, see {@link ensureBacking}.
   *
   * @throws {BackendError} OUT_OF_MEMORY beyond the device's largest buffer; a later refusal goes to `onError`
   */
  take(bytes: number, label: string): StorageBuffer {
    const maxBufferSize = this.#maxBufferSize;
    if (bytes > maxBufferSize) {
      throw new BackendError('OUT_OF_MEMORY', `${bytes} bytes exceed the largest buffer, ${maxBufferSize}`, {
        requestedBytes: bytes,
        limitBytes: maxBufferSize,
      });
    }
    const backing = bytes > MAX_PIECE ? this.#own(bytes, label) : undefined;
    this.#live++;
    return { id: ++lastId, size: Math.ceil(bytes / 4) * 4, label, backing };
  }

  /**
   * Gives memory a backing, unless it has one.
   *
   * @param canShare - whether other allocations may lie in the same GPU buffer, which no op could write beside them
   */
  ensureBacking(buffer: StorageBuffer, canShare: boolean): Backing {
    buffer.backing ??= canShare ? this.#slabs.take(buffer.size) : this.#own(buffer.size, buffer.label);
    return buffer.backing;
  }

  /** Gives memory its own GPU buffer; the caller copies from the old backing, which is returned, and releases it. */
  relocate(buffer: StorageBuffer): Backing | undefined {
    const { backing } = buffer;
    if (backing !== undefined && backing.slab === undefined) return undefined;
    this.moves++;
    buffer.backing = this.#own(buffer.size, buffer.label);
    return backing;
  }

  /** Gives memory back. Work queued so far may still use it. */
  release({ backing }: StorageBuffer): void {
    this.#live--;
    if (backing !== undefined) this.releaseBacking(backing);
  }

  /** Gives a backing back. Work queued so far may still use it. */
  releaseBacking(backing: Backing): void {
    const { size, start, slab } = backing;
    if (slab !== undefined) this.#slabs.release(start, slab);
    else if (size > this.#options.maxPooledBytes / 2) this.#retire(backing);
    else this.#free.keep(backing);
    if (this.#retiredBytes > MAX_RETIRED_BYTES) this.#options.flush();
  }

  /** Gives up pooled buffers, those of the largest classes first, until at most `bytes` are kept. */
  trim(bytes: number): void {
    this.#free.trim(bytes);
  }

  /** Destroys retired buffers. Call it right after a submit: until then, commands that use them would fail. */
  destroyRetired(): void {
    if (this.#retired.length === 0) return;
    for (const { gpu, size } of this.#retired) {
      this.#allocatedBytes -= size;
      gpu.destroy();
    }
    this.#retired = [];
    this.#retiredBytes = 0;
    // The memory comes back only when a later submit has completed.
    this.#options.context.device.queue.submit([]);
  }

  /** Destroys what is pooled. Buffers that are handed out stay the caller's. */
  clear(): void {
    this.trim(0);
    this.destroyRetired();
  }

  #own(bytes: number, label: string): Backing {
    const size = Math.min(sizeClass(bytes, 4), this.#maxBufferSize - (this.#maxBufferSize % 4));
    return this.#free.take(size) ?? this.#create(size, bytes, label);
  }

  #retire(backing: Backing): void {
    this.#retired.push(backing);
    this.#retiredBytes += backing.size;
  }

  #create(size: number, requestedBytes: number, label: string): Backing {
    // Unused memory must not be what makes this allocation fail. Work that asks again for what was given up would go round in
    // circles, and had room for it before.
    if (size > LARGEST_ROUNDED && this.#free.bytes + this.#retiredBytes > 0 && !this.#givenUp.has(size)) {
      if (this.#givenUp.size > MAX_GIVEN_UP) this.#givenUp.clear();
      for (const free of this.#free.sizes) this.#givenUp.add(free);
      this.trim(0);
      this.#options.flush();
    }
    const { context, onError, onCheck } = this.#options;
    const usage = USAGE.storage | USAGE.copySrc | USAGE.copyDst;
    const { value: gpu, caught } = inScopes(context, () => context.device.createBuffer({ size, usage, label }));
    this.#allocatedBytes += size;
    this.#peakBytes = Math.max(this.#peakBytes, this.#allocatedBytes);
    const inUseBytes = this.#allocatedBytes - this.#free.bytes - size;
    const check = async (): Promise<void> => {
      const error = await caught;
      if (error === undefined) return;
      this.#givenUp.clear();
      const coded = toCodedError(error, 'alloc', `${requestedBytes} bytes for ${label}: `);
      onError(
        coded.code === 'OUT_OF_MEMORY'
          ? new BackendError('OUT_OF_MEMORY', coded.detail, {
              op: 'alloc',
              requestedBytes,
              inUseBytes,
              cause: error.error,
            })
          : coded,
      );
    };
    onCheck(check());
    return { gpu, id: ++lastId, size, start: 0, slab: undefined };
  }
}
