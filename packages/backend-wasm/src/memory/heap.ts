import { BackendError } from '@concord/backend-core';

/** Every address that is given out is a multiple of this: the size of a cache line. */
export const ALIGNMENT = 64;

/** Blocks of a bin that are looked at for the best fit. */
const MAX_LOOKS = 32;

/** A part of the memory that is free. */
interface FreeBlock {
  readonly address: number;
  readonly bytes: number;
  /** The number of commands after which nothing queued uses it any more. */
  readonly idleAt: number;
}

/**
 * Addresses in the one linear memory. Which are free is known only here: nothing is written into the memory. A freed block
 * may be given out at once, as commands run in the order of the queue; only who writes from outside of the queue has
 * to ask for one that is idle.
 */
export class Heap {
  readonly #start: number;
  readonly #reserve: (end: number) => void;
  /** Everything from here on was never given out. */
  #top: number;
  #inUse = 0;
  readonly #byStart = new Map<number, FreeBlock>();
  readonly #byEnd = new Map<number, FreeBlock>();
  /** Free blocks by the number of bits of their size. */
  readonly #bins: Array<Set<FreeBlock>> = Array.from({ length: 33 }, () => new Set<FreeBlock>());
  /** Sizes of the blocks in use, by address. */
  readonly #sizes = new Map<number, number>();

  /**
   * @param reserve - makes the memory reach to an address; throws OUT_OF_MEMORY
   */
  constructor(start: number, reserve: (end: number) => void) {
    this.#start = roundUp(start);
    this.#top = this.#start;
    this.#reserve = reserve;
  }

  /** Bytes that were freed and are kept. */
  get freeBytes(): number {
    return this.#top - this.#start - this.#inUse;
  }

  /**
   * Takes `bytes` > 0 bytes of memory.
   *
   * @param done - only memory that was freed when at most so many commands were queued: where it is written from outside
   *   of the queue, the number of commands that are done
   * @throws {BackendError} OUT_OF_MEMORY
   */
  take(bytes: number, done: number = Infinity): number {
    const size = roundUp(bytes);
    const block = this.#find(size, done);
    const address = block === undefined ? this.#extend(size, done) : block.address;
    if (block !== undefined) {
      this.#remove(block);
      if (block.bytes > size) {
        this.#add({ address: block.address + size, bytes: block.bytes - size, idleAt: block.idleAt });
      }
    }
    this.#sizes.set(address, size);
    this.#inUse += size;
    return address;
  }

  /** Frees a block of {@link take}; it can be taken again once the first `idleAt` commands are done. */
  give(address: number, idleAt: number): void {
    const size = this.#sizes.get(address);
    if (size === undefined) throw new BackendError('DEVICE_ERROR', `nothing was taken at address ${address}`);
    this.#sizes.delete(address);
    this.#inUse -= size;
    const before = this.#byEnd.get(address);
    const after = this.#byStart.get(address + size);
    for (const neighbour of [before, after]) if (neighbour !== undefined) this.#remove(neighbour);
    this.#add({
      address: before?.address ?? address,
      bytes: size + (before?.bytes ?? 0) + (after?.bytes ?? 0),
      idleAt: Math.max(idleAt, before?.idleAt ?? 0, after?.idleAt ?? 0),
    });
  }

  /** The smallest free block of those looked at that is large enough. */
  #find(size: number, done: number): FreeBlock | undefined {
    for (let bin = bitsOf(size); bin < this.#bins.length; bin++) {
      let best: FreeBlock | undefined;
      let looks = 0;
      for (const block of this.#bins[bin] as Set<FreeBlock>) {
        const fits = block.bytes >= size && block.idleAt <= done;
        if (fits && block.bytes < (best?.bytes ?? Infinity)) best = block;
        if (best?.bytes === size || (best !== undefined && ++looks > MAX_LOOKS)) break;
      }
      if (best !== undefined) return best;
    }
    return undefined;
  }

  /** Memory never given out, together with the last block if that one is free. */
  #extend(size: number, done: number): number {
    const last = this.#byEnd.get(this.#top);
    const isUsable = last !== undefined && last.idleAt <= done;
    const address = isUsable ? last.address : this.#top;
    this.#reserve(address + size);
    if (isUsable) this.#remove(last);
    this.#top = address + size;
    return address;
  }

  #add(block: FreeBlock): void {
    this.#byStart.set(block.address, block);
    this.#byEnd.set(block.address + block.bytes, block);
    this.#bins[bitsOf(block.bytes)]?.add(block);
  }

  #remove(block: FreeBlock): void {
    this.#byStart.delete(block.address);
    this.#byEnd.delete(block.address + block.bytes);
    this.#bins[bitsOf(block.bytes)]?.delete(block);
  }
}

const roundUp = (bytes: number): number => Math.ceil(bytes / ALIGNMENT) * ALIGNMENT;

/** The number of bits of a size below 2^32. */
const bitsOf = (bytes: number): number => 32 - Math.clz32(bytes);
