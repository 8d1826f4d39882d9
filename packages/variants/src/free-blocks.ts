/** Counters of the device memory of a backend, in bytes. */
export interface PoolCounters {
  /** Everything that is allocated on the device, pooled memory included. */
  readonly allocatedBytes: number;
  /** Freed and kept for reuse. */
  readonly pooledBytes: number;
  /** Freed for good: it goes back to the device when the work that uses it is done, or was submitted. */
  readonly retiredBytes: number;
  readonly peakBytes: number;
  /** Allocations that are handed out. */
  readonly live: number;
}

const SMALLEST_CLASS = 256;
/** Larger sizes are not rounded: an eighth of them would be too much to waste. */
export const LARGEST_ROUNDED: number = 64 * 2 ** 20;

/**
 * Returns the size of the block that an allocation gets: one of eight steps per power of two, so at most 12.5 % is wasted.
 *
 * @param unit - sizes beyond {@link LARGEST_ROUNDED} are a multiple of it
 */
export function sizeClass(bytes: number, unit: number): number {
  if (bytes <= SMALLEST_CLASS) return SMALLEST_CLASS;
  if (bytes > LARGEST_ROUNDED) return Math.ceil(bytes / unit) * unit;
  const step = 2 ** (Math.ceil(Math.log2(bytes)) - 4);
  return Math.max(SMALLEST_CLASS, Math.ceil(bytes / step) * step);
}

/** Freed memory that is kept for reuse, by its size. */
export class FreeBlocks<Block extends { readonly size: number }> {
  readonly #maxBytes: number;
  readonly #retire: (block: Block) => void;
  readonly #bySize = new Map<number, Block[]>();
  #bytes = 0;

  /**
   * @param maxBytes - beyond these, half of them are kept
   * @param retire - takes a block that is given up
   */
  constructor(maxBytes: number, retire: (block: Block) => void) {
    this.#maxBytes = maxBytes;
    this.#retire = retire;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** The sizes of the blocks that are kept. */
  get sizes(): Iterable<number> {
    return this.#bySize.keys();
  }

  keep(block: Block): void {
    const list = this.#bySize.get(block.size);
    if (list === undefined) this.#bySize.set(block.size, [block]);
    else list.push(block);
    this.#bytes += block.size;
    if (this.#bytes > this.#maxBytes) this.trim(this.#maxBytes / 2);
  }

  /** A block of a size, which is kept no longer; undefined if there is none. */
  take(size: number): Block | undefined {
    const block = this.#bySize.get(size)?.pop();
    if (block !== undefined) this.#bytes -= size;
    return block;
  }

  /** Gives up blocks, the largest first, until at most `bytes` are kept. */
  trim(bytes: number): void {
    for (const size of [...this.#bySize.keys()].sort((a, b) => b - a)) {
      while (this.#bytes > bytes) {
        const block = this.take(size);
        if (block === undefined) break;
        this.#retire(block);
      }
      if (this.#bySize.get(size)?.length === 0) this.#bySize.delete(size);
    }
  }
}
