import type { DevicePtr } from '../contract/device-ptr.ts';
import { BackendError } from '../errors/backend-error.ts';
import { invalid } from '../errors/invalid.ts';
import { SLOT_BYTES } from './address-slots.ts';
import type { Operand } from './operand.ts';

/** Alignment of every base address, and the minimum gap after an allocation. */
const ALIGNMENT = 256;

/** Freed ranges that are remembered one by one, in order of age, besides two for each live allocation. */
const MAX_FREE_RANGES = 65_536;

/** Bases of freed allocations that are kept, besides one for each live one. */
const MAX_FREED_BASES = 64;

/** Labels of freed allocations that are remembered, for messages. */
const MAX_FREED_LABELS = 256;

/** One live allocation. */
export interface Allocation<Buffer> {
  readonly base: number;
  readonly bytes: number;
  readonly buffer: Buffer;
  readonly label: string | undefined;
}

interface FreeRange {
  start: number;
  size: number;
}

/**
 * The virtual address space of one backend object: which addresses are live, how far each allocation reaches, and what
 * native buffer is behind it. After every allocation lies a guard gap that belongs to no allocation, so that an address just
 * past the end is never another allocation's. Addresses never used come first, then those freed longest ago, so that
 * a stale pointer is recognised for as long as possible.
 */
export class AllocationTable<Buffer> {
  readonly #start: number;
  readonly #end: number;
  /** Everything from here on was never used. */
  #fresh: number;
  /** Freed ranges, oldest first. */
  #free: FreeRange[] = [];
  /**
   * Bases in ascending order, for finding the allocation around an interior pointer. Those of freed allocations stay until they
   * are as many as the others: taking one out moves all behind it, for seconds where there are 100,000 and the array has lost
   * V8's fast way (a program that changes the species of an array is enough). None lies inside a live allocation.
   */
  #bases: number[] = [];
  readonly #live = new Map<number, Allocation<Buffer>>();
  /** Freed allocations that had a label, by their base, oldest first. */
  readonly #freedLabels = new Map<number, { readonly label: string; readonly bytes: number }>();
  #inUseBytes = 0;
  #peakBytes = 0;

  constructor(start: number, size: number) {
    this.#start = start;
    this.#end = start + size;
    // Not at the start itself: `slot * SLOT_BYTES - 1` and the like should not hit the first allocation.
    this.#fresh = start + ALIGNMENT;
  }

  get inUseBytes(): number {
    return this.#inUseBytes;
  }

  get peakBytes(): number {
    return this.#peakBytes;
  }

  get liveAllocations(): number {
    return this.#live.size;
  }

  /** The live allocations, in ascending order of address. */
  *allocations(): Generator<Allocation<Buffer>> {
    for (const base of this.#bases) {
      const allocation = this.#live.get(base);
      if (allocation !== undefined) yield allocation;
    }
  }

  /**
   * Gives `buffer` an address range.
   *
   * @throws {BackendError} OUT_OF_MEMORY when the address space has no gap of that size
   */
  add(bytes: number, buffer: Buffer, label?: string): DevicePtr {
    const size = reservedSize(bytes);
    const base = this.#reserve(size);
    const bases = this.#bases;
    if (bases.length === 0 || (bases[bases.length - 1] as number) < base) bases.push(base);
    else {
      const first = this.#indexAfter(base - 1);
      bases.splice(first, this.#indexAfter(base + size - 1) - first, base);
    }
    this.#live.set(base, { base, bytes, buffer, label });
    this.#freedLabels.delete(base);
    this.#inUseBytes += bytes;
    this.#peakBytes = Math.max(this.#peakBytes, this.#inUseBytes);
    return base as DevicePtr;
  }

  /**
   * Forgets the allocation that starts at `ptr`.
   *
   * @throws {BackendError} INVALID_ARGUMENT `unknown handle N`
   */
  remove(ptr: number): Allocation<Buffer> {
    const allocation = this.#live.get(ptr);
    if (allocation === undefined) throw this.#unknownHandle(ptr);
    this.#live.delete(ptr);
    if (this.#bases.length > MAX_FREED_BASES + 2 * this.#live.size) {
      this.#bases = this.#bases.filter((base) => this.#live.has(base));
    }
    this.#release(ptr, reservedSize(allocation.bytes));
    this.#inUseBytes -= allocation.bytes;
    this.#noteLabel(allocation);
    return allocation;
  }

  #noteLabel({ base, bytes, label }: Allocation<Buffer>): void {
    if (label === undefined) return;
    this.#freedLabels.set(base, { label, bytes });
    const [oldest] = this.#freedLabels.keys();
    if (this.#freedLabels.size > MAX_FREED_LABELS) this.#freedLabels.delete(oldest as number);
  }

  /** The allocation that `ptr` points to or into, if it is live. */
  find(ptr: number): Allocation<Buffer> | undefined {
    const at = this.#live.get(ptr);
    if (at !== undefined && at.bytes > 0) return at;
    const base = this.#bases[this.#indexAfter(ptr) - 1];
    const allocation = base === undefined ? undefined : this.#live.get(base);
    return allocation !== undefined && ptr < allocation.base + allocation.bytes ? allocation : undefined;
  }

  /** Returns the end of a message: the labelled allocation that an address lies in, if there is one. */
  placeOf(ptr: number): string {
    const label = this.find(ptr)?.label;
    return label === undefined ? '' : `, in the allocation "${label}"`;
  }

  /**
   * The native memory behind `byteLength` bytes from `ptr` on.
   *
   * @throws {BackendError} INVALID_ARGUMENT `unknown handle N`, or when the operand reaches beyond its allocation
   */
  resolve(name: string, ptr: number, byteLength: number): Operand<Buffer> {
    const allocation = this.find(ptr);
    if (allocation === undefined) throw this.#unknownHandle(ptr, name);
    const byteOffset = ptr - allocation.base;
    if (byteOffset + byteLength > allocation.bytes) {
      const what = allocation.label === undefined ? 'its allocation' : `its allocation "${allocation.label}"`;
      throw invalid(
        `${name} is out of bounds: ${byteLength} bytes at offset ${byteOffset} of ${what} of ${allocation.bytes} bytes`,
      );
    }
    return { buffer: allocation.buffer, byteOffset, byteLength };
  }

  /** Number of bases that are <= address. */
  #indexAfter(address: number): number {
    let low = 0;
    let high = this.#bases.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#bases[middle] as number) <= address) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #reserve(size: number): number {
    if (this.#fresh + size <= this.#end) {
      const base = this.#fresh;
      this.#fresh += size;
      return base;
    }
    let base = this.#reuse(size);
    if (base === undefined) {
      this.#coalesce();
      base = this.#reuse(size);
    }
    if (base === undefined) {
      throw new BackendError('OUT_OF_MEMORY', `no gap of ${size} bytes is left in the virtual address space`);
    }
    return base;
  }

  /** Cuts `size` bytes from the oldest freed range that has them. */
  #reuse(size: number): number | undefined {
    const index = this.#free.findIndex((range) => range.size >= size);
    const range = this.#free[index];
    if (range === undefined) return undefined;
    const base = range.start;
    range.start += size;
    range.size -= size;
    if (range.size === 0) this.#free.splice(index, 1);
    return base;
  }

  /** Notes a freed range as the youngest. A program that allocates and frees for days must not grow the list for ever. */
  #release(start: number, size: number): void {
    const youngest = this.#free.at(-1);
    if (youngest !== undefined && youngest.start + youngest.size === start) youngest.size += size;
    else this.#free.push({ start, size });
    // Joining leaves at most one range more than there are live allocations, so it is rarely needed again soon.
    if (this.#free.length > MAX_FREE_RANGES + 2 * this.#live.size) this.#free = this.#joined();
  }

  /** Joins neighbouring freed ranges, and the last of them with the fresh space. */
  #coalesce(): void {
    const joined = this.#joined();
    const tail = joined.at(-1);
    if (tail !== undefined && tail.start + tail.size === this.#fresh) tail.size += this.#end - this.#fresh;
    else if (this.#fresh < this.#end) joined.push({ start: this.#fresh, size: this.#end - this.#fresh });
    this.#fresh = this.#end;
    this.#free = joined;
  }

  /** The freed ranges with neighbours made one, by address: their age is given up. */
  #joined(): FreeRange[] {
    const sorted = this.#free.sort((x, y) => x.start - y.start);
    const joined: FreeRange[] = [];
    for (const range of sorted) {
      const last = joined.at(-1);
      if (last !== undefined && last.start + last.size === range.start) last.size += range.size;
      else joined.push({ ...range });
    }
    return joined;
  }

  #unknownHandle(ptr: number, name?: string): BackendError {
    const { known = '', hint } = this.#whyUnknown(ptr);
    return invalid(`unknown handle ${ptr}${known}`, { hint: name === undefined ? hint : `${name}: ${hint}` });
  }

  /** The facts known about a pointer that does not name memory: for the detail of the error, and for its hint. */
  #whyUnknown(ptr: number): { readonly known?: string; readonly hint: string } {
    if (ptr === 0) return { hint: 'this is the null pointer' };
    if (ptr < this.#start || ptr >= this.#end) {
      const hint = 'the pointer is not from this backend object';
      return ptr < SLOT_BYTES ? { hint } : { known: ", another backend's", hint };
    }
    const around = this.#live.get(this.#bases[this.#indexAfter(ptr) - 1] ?? Number.NaN);
    if (around !== undefined && ptr < around.base + reservedSize(around.bytes)) {
      const what = around.label === undefined ? 'an allocation' : `the allocation "${around.label}"`;
      const past = ptr - around.base - around.bytes;
      if (past >= 0) return { hint: `the pointer is ${past} bytes past the end of ${what}` };
      return { hint: `the pointer is ${ptr - around.base} bytes inside ${what}, not its start` };
    }
    if (ptr < this.#start + ALIGNMENT || ptr >= this.#fresh) return { hint: 'nothing was ever allocated there' };
    const [, freed] = [...this.#freedLabels].find(([base, { bytes }]) => base <= ptr && ptr < base + bytes) ?? [];
    const label = freed === undefined ? '' : ` ("${freed.label}")`;
    return { known: `${label}, already freed`, hint: 'the allocation was freed before' };
  }
}

function reservedSize(bytes: number): number {
  return (Math.ceil(bytes / ALIGNMENT) + 1) * ALIGNMENT;
}
