import type { ComputeBackend, DevicePtr } from '@concord/backend-core';

/** An allocation that several tensors may share; the last one that lets go frees it. */
export class Storage {
  readonly backend: ComputeBackend;
  readonly ptr: DevicePtr;
  readonly bytes: number;
  /** The storage whose memory this is under another identity, which it keeps. */
  readonly origin: Storage | undefined;
  /** True if the memory is freed with it. */
  readonly isOwned: boolean;
  #users = 0;

  /** @param owned - whether to free it; memory that the caller allocated is left alone */
  constructor(backend: ComputeBackend, ptr: DevicePtr, bytes: number, owned: boolean, origin?: Storage) {
    this.backend = backend;
    this.ptr = ptr;
    this.bytes = bytes;
    this.isOwned = owned;
    this.origin = origin;
  }

  /** Tensors that hold it. */
  get users(): number {
    return this.#users;
  }

  retain(): void {
    if (this.#users === 0) this.origin?.retain();
    if (this.#users === 0 && this.isOwned) counts.bytes += this.bytes;
    this.#users++;
    counts.tensors++;
  }

  release(): void {
    counts.tensors--;
    this.#users--;
    if (this.#users === 0) this.origin?.release();
    if (this.#users > 0 || !this.isOwned) return;
    counts.bytes -= this.bytes;
    if (this.bytes > 0) this.backend.free(this.ptr);
  }
}

/** The totals over all tensors of the program. */
export interface TensorMemory {
  /** Tensors that live, views included. */
  readonly tensors: number;
  /** Bytes of device memory that they hold, shared storage counted once. */
  readonly bytes: number;
  /** Tensors that were never disposed and whose memory was given back when they were collected. */
  readonly collected: number;
}

const counts = { tensors: 0, bytes: 0, collected: 0 };
let warned = false;

/** The functions that every runtime has, whatever types a program knows. */
export interface Host {
  readonly console?: { log(text: string): void; warn(text: string): void };
}

/** Gives back what forgotten tensors hold. */
const forgotten = new FinalizationRegistry<Storage>((storage) => {
  counts.collected++;
  storage.release();
  if (warned) return;
  warned = true;
  (globalThis as Host).console?.warn(
    `concord: a tensor of ${storage.bytes} bytes was garbage-collected without being disposed; its memory was freed only now. ` +
      'Use `using`, `tidy` or `dispose()`. memory().collected counts such tensors.',
  );
});

/** Watches over a tensor that no `tidy` will dispose. */
export function watch(tensor: object, storage: Storage): void {
  forgotten.register(tensor, storage, tensor);
}

/** Ends {@link watch}. */
export function unwatch(tensor: object): void {
  forgotten.unregister(tensor);
}

/**
 * The totals over all tensors of the program.
 *
 * @example
 * ```ts
 * const before = memory().tensors;
 * using x = zeros(backend, [4]);
 * memory().tensors - before; // 1
 * ```
 */
export function memory(): TensorMemory {
  return { ...counts };
}
