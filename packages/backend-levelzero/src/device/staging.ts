import type { HostBlock, HostBlocks } from './host-blocks.ts';
import type { Submissions } from './submissions.ts';

/** Up to this, uploads share blocks. */
const SHARED_BYTES = 2 ** 18;
/** Larger uploads are cut, so that the device copies one part while the host copies the next. */
export const CHUNK_BYTES: number = 2 * 2 ** 20;
/** Starts of uploads in a block. */
const ALIGNMENT = 64;

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
