import { isOutOfMemory, RESULTS } from '../ffi/result.ts';
import { Struct } from '../ffi/structs.ts';
import type { OpenDevice } from './open-device.ts';
import type { Submissions } from './submissions.ts';

/** Host memory that the device can copy from and to. */
export interface HostBlock {
  readonly address: bigint;
  readonly bytes: Uint8Array;
}

/** Blocks are of this size or a power of two above it; those that are not kept, of a multiple. */
const SMALLEST = 2 ** 20;
/** Memory that is kept for the next copies. */
const MAX_KEPT_BYTES = 64 * 2 ** 20;
const ALIGNMENT = 64;

/** Host memory of the driver's, which is used again when the copies from or to it are done. */
export class HostBlocks {
  readonly #device: OpenDevice;
  readonly #submissions: Submissions;
  /** Blocks that are not being filled; in use until their submit is done. Oldest first. */
  #returned: { readonly block: HostBlock; readonly until: number }[] = [];
  readonly #description = new Struct('ze_host_mem_alloc_desc_t').bytes;
  readonly #slot = new BigUint64Array(1);

  constructor(device: OpenDevice, submissions: Submissions) {
    this.#device = device;
    this.#submissions = submissions;
  }

  /**
   * A block of at least `bytes` that no copy uses.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  take(bytes: number): HostBlock {
    const size = sizeOf(bytes);
    const done = this.#returned.length > 0 ? this.#submissions.poll() : 0;
    const index = this.#returned.findIndex(({ block, until }) => until <= done && block.bytes.byteLength === size);
    const [found] = index < 0 ? [] : this.#returned.splice(index, 1);
    return found?.block ?? this.#create(size, bytes);
  }

  /** Gives a block back that copies up to this submit use. */
  giveBack(block: HostBlock, until: number): void {
    this.#returned.push({ block, until });
    this.#trim();
  }

  /** Frees all blocks that no copy uses, because memory is short. Whether there were any. */
  releaseIdle(): boolean {
    const done = this.#submissions.poll();
    const idle = this.#returned.filter(({ until }) => until <= done);
    this.#returned = this.#returned.filter(({ until }) => until > done);
    for (const { block } of idle) this.#free(block);
    return idle.length > 0;
  }

  /** Frees all that was given back. To be called when no work is in flight. */
  clear(): void {
    for (const { block } of this.#returned.splice(0)) this.#free(block);
  }

  /** Frees the oldest idle blocks beyond what is worth keeping. */
  #trim(): void {
    let kept = this.#returned.reduce((sum, { block }) => sum + block.bytes.byteLength, 0);
    if (kept <= MAX_KEPT_BYTES) return;
    const done = this.#submissions.poll();
    this.#returned = this.#returned.filter(({ block, until }) => {
      if (kept <= MAX_KEPT_BYTES || until > done) return true;
      kept -= block.bytes.byteLength;
      this.#free(block);
      return false;
    });
  }

  #create(size: number, requestedBytes: number): HostBlock {
    const { api, context, koffi } = this.#device;
    const allocate = (): number => api.zeMemAllocHost(context, this.#description, size, ALIGNMENT, this.#slot);
    let result = allocate();
    if (isOutOfMemory(result) && this.releaseIdle()) result = allocate();
    if (result !== RESULTS.SUCCESS) throw this.#device.error(result, 'zeMemAllocHost', { requestedBytes });
    const address = this.#slot[0] as bigint;
    return { address, bytes: new Uint8Array(koffi.view(address, size)) };
  }

  #free({ address }: HostBlock): void {
    this.#device.free(address);
  }
}

function sizeOf(bytes: number): number {
  if (bytes > MAX_KEPT_BYTES) return Math.ceil(bytes / SMALLEST) * SMALLEST;
  return Math.max(SMALLEST, 2 ** Math.ceil(Math.log2(bytes)));
}

/** The size up to which uploads share blocks. */
const SHARED_BYTES = 2 ** 18;
/** Larger uploads are cut, so that the device copies one part while the host copies the next. */
export const CHUNK_BYTES: number = 2 * 2 ** 20;

/** Keeps what is uploaded in host memory until the device has copied it. */
export class Staging {
  readonly #blocks: HostBlocks;
  readonly #submissions: Submissions;
  #shared: HostBlock | undefined;
  #used = 0;
  /** The submit that last uses the shared block. */
  #lastUse = 0;

  constructor(blocks: HostBlocks, submissions: Submissions) {
    this.#blocks = blocks;
    this.#submissions = submissions;
  }

  /** Copies bytes, at most {@link CHUNK_BYTES}, to memory that the list being recorded may copy from; gives its address. */
  stage(bytes: Uint8Array): bigint {
    const size = bytes.byteLength;
    const until = this.#submissions.next;
    if (size > SHARED_BYTES) {
      const block = this.#blocks.take(size);
      block.bytes.set(bytes);
      this.#blocks.giveBack(block, until);
      return block.address;
    }
    if (this.#shared !== undefined && this.#lastUse <= this.#submissions.completed) this.#used = 0;
    if (this.#shared === undefined || this.#used + size > this.#shared.bytes.byteLength) {
      if (this.#shared !== undefined) this.#blocks.giveBack(this.#shared, this.#lastUse);
      this.#shared = this.#blocks.take(SHARED_BYTES);
      this.#used = 0;
    }
    const start = this.#used;
    this.#shared.bytes.set(bytes, start);
    this.#used += Math.ceil(size / ALIGNMENT) * ALIGNMENT;
    this.#lastUse = until;
    return this.#shared.address + BigInt(start);
  }

  /** Gives the shared block back. */
  clear(): void {
    if (this.#shared !== undefined) this.#blocks.giveBack(this.#shared, this.#lastUse);
    this.#shared = undefined;
  }
}
