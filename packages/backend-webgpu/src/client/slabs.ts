import type { Backing } from '../kernels/recorder.ts';

/** Larger allocations have separate buffers. */
export const MAX_PIECE = 4096;
/** Bytes of a buffer that pieces are cut from. */
export const SLAB_BYTES = 65_536;
/** The smallest piece: bindings begin at multiples of this on every device. */
const MIN_PIECE = 256;

/** A buffer that holds pieces of one size. */
export interface Slab {
  /** All of it. */
  readonly whole: Backing;
  readonly pieceBytes: number;
  /** The starts of pieces that are not handed out. */
  readonly free: number[];
}

/**
 * Small allocations, many to a buffer: a `GPUBuffer` costs some 8 kB and 30 us, whatever its size. A piece may be handed
 * out again while work queued before still uses it, as the buffers of a pool may.
 */
export class Slabs {
  readonly #take: () => Backing;
  readonly #give: (whole: Backing) => void;
  /** The slabs with room, by the size of their pieces. */
  readonly #open = new Map<number, Set<Slab>>();

  /**
   * @param take - a buffer of {@link SLAB_BYTES}
   * @param give - gets it back when its last piece has come back
   */
  constructor(take: () => Backing, give: (whole: Backing) => void) {
    this.#take = take;
    this.#give = give;
  }

  /** A place for `bytes`, at most {@link MAX_PIECE} of them. */
  take(bytes: number): Backing & { readonly slab: Slab } {
    const pieceBytes = Math.max(MIN_PIECE, 2 ** Math.ceil(Math.log2(bytes)));
    const open = this.#openOf(pieceBytes);
    const [first] = open;
    const slab = first ?? this.#cut(pieceBytes);
    if (first === undefined) open.add(slab);
    const start = slab.free.pop() as number;
    if (slab.free.length === 0) open.delete(slab);
    return { ...slab.whole, start, slab };
  }

  release(start: number, slab: Slab): void {
    const open = this.#openOf(slab.pieceBytes);
    slab.free.push(start);
    open.add(slab);
    if (slab.free.length * slab.pieceBytes < SLAB_BYTES) return;
    open.delete(slab);
    this.#give(slab.whole);
  }

  #openOf(pieceBytes: number): Set<Slab> {
    const known = this.#open.get(pieceBytes);
    if (known !== undefined) return known;
    const made = new Set<Slab>();
    this.#open.set(pieceBytes, made);
    return made;
  }

  #cut(pieceBytes: number): Slab {
    const count = SLAB_BYTES / pieceBytes;
    const free = Array.from({ length: count }, (_, i) => (count - 1 - i) * pieceBytes);
    return { whole: this.#take(), pieceBytes, free };
  }
}
