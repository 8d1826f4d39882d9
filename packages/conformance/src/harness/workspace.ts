import {
  BYTES_OF,
  type ComputeBackend,
  type DevicePtr,
  type DType,
  offsetPtr,
  type StoredFloatDType,
  toBf16Array,
  toF16Array,
} from '@concord/backend-core';
import { bytesOf, numbersIn } from '../run/placement.ts';
import { CaseFailure } from './case.ts';

/** Poison on each side of an operand. */
const GUARD_BYTES = 64;
/** Distance of operands that share an allocation. */
const GAP_BYTES = 4;
/** The alignment of the bases of allocations. */
const BASE_ALIGNMENT = 256;

/** Operands between guards, as an allocation holds them before the op. */
export class Image {
  readonly bytes: Uint8Array;
  readonly places: readonly { readonly slot: Slot; readonly at: number }[];

  constructor(size: number, places: Image['places']) {
    this.bytes = poison(size);
    this.places = places;
    for (const { slot, at } of places) this.bytes.set(slot.before, at);
  }

  /** Points the operands into an allocation that begins at `base`. */
  moveTo(base: DevicePtr): void {
    for (const { slot, at } of this.places) slot.ptr = offsetPtr(base, at);
  }
}

/** Lays operands out one after the other, each between guards. */
export function placeSlots(slots: readonly Slot[], offsetBytes = 0): Image {
  let size = GUARD_BYTES + offsetBytes;
  const places = slots.map((slot) => {
    // An offset that is right for binary16 need not be for the float32 inputs of an epilogue.
    size = Math.ceil(size / bytesOf(slot.dtype)) * bytesOf(slot.dtype);
    if (slot.residue !== undefined) {
      size += (slot.residue - (size % BASE_ALIGNMENT) + BASE_ALIGNMENT) % BASE_ALIGNMENT;
    }
    const at = size;
    // Kept a multiple of 4, so that float32 operands after an odd number of binary16 ones stay aligned.
    size += Math.ceil(slot.before.length / 4) * 4 + GAP_BYTES;
    return { slot, at };
  });
  return new Image(Math.ceil((size + GUARD_BYTES) / 4) * 4, places);
}

/**
 * Gives each operand its bytes after the op, and compares what the op may not write with what was there.
 *
 * @throws {CaseFailure} when an input or a guard has changed
 */
export function compareImage({ bytes, places }: Image, after: Uint8Array): void {
  const isWritable = new Uint8Array(bytes.length);
  for (const { slot, at } of places) {
    slot.after = after.slice(at, at + slot.before.length);
    // What the op may write is compared by the case.
    if (slot.isOutput) isWritable.fill(1, at, at + slot.before.length);
  }
  let [first, wrong] = [-1, 0];
  for (let i = 0; i < bytes.length; i++) {
    if (after[i] === bytes[i] || isWritable[i] === 1) continue;
    if (first < 0) first = i;
    wrong++;
  }
  if (first < 0) return;
  const [got, want] = [after[first] as number, bytes[first] as number];
  const what = 'inputs and guard bytes';
  throw new CaseFailure(
    `${what}: byte ${first} of ${bytes.length} is ${got}, want ${want}: ${placeOf(places, first)}; ${wrong} changed`,
    { what, unit: 'byte', wrong, total: bytes.length, index: first, got, want, bound: 0 },
  );
}

/** Says where a byte is: in which input, or how far from which operand. */
function placeOf(places: Image['places'], byte: number): string {
  const distance = ({ slot, at }: (typeof places)[number]): number =>
    byte < at ? at - byte : Math.max(0, byte - (at + slot.before.length - 1));
  const [nearest] = [...places].sort((x, y) => distance(x) - distance(y));
  if (nearest === undefined) return 'there is no operand';
  const { slot, at } = nearest;
  if (distance(nearest) === 0) return `byte ${byte - at} of ${slot.name}, which the op may only read`;
  const side = byte < at ? 'before' : 'after';
  return `poison that guards the operands, ${distance(nearest)} bytes ${side} ${slot.name}`;
}

/**
 * The value that surrounds every operand and fills every output before the op. As float32 and as binary16 it is NaN, so that reading
 * what should not be read shows.
 */
const POISON = 0x7fc57fc5;

/** Types of operands of ops. */
type SlotDType = StoredFloatDType | 'u32' | 'i32' | 'u8';

/** One operand: where it is, and what it held before. */
export class Slot {
  /** Valid while the op runs. */
  ptr: DevicePtr = 0 as DevicePtr;
  /** The operand's name in the call, such as `filter`. */
  name = 'an operand';
  /** The residue of its pointer modulo 256; undefined: any. */
  residue: number | undefined;
  /** Contents after the op. */
  after: Uint8Array = new Uint8Array();
  readonly before: Uint8Array;
  readonly dtype: DType;
  readonly isOutput: boolean;
  /** True if the op may read it. */
  readonly isInput: boolean;

  constructor(before: Uint8Array, dtype: DType, isInput: boolean, isOutput: boolean) {
    this.before = before;
    this.dtype = dtype;
    this.isInput = isInput;
    this.isOutput = isOutput;
  }

  /** The elements after the op, those in gaps included. */
  values(): Float32Array {
    return Float32Array.from(numbersIn(this.dtype, this.after));
  }

  /**
   * The logical elements after the op, packed, for an operand of rows with gaps between them.
   *
   * @param starts - the element that each row begins with
   * @throws {CaseFailure} when a byte in a gap has changed
   */
  rows(starts: readonly number[], columns: number): Float32Array {
    const all = this.values();
    const packed = new Float32Array(starts.length * columns);
    const inGap = new Uint8Array(all.length).fill(1);
    for (const [row, start] of starts.entries()) {
      packed.set(all.subarray(start, start + columns), row * columns);
      inGap.fill(0, start, start + columns);
    }
    const size = BYTES_OF[this.dtype];
    const bad = this.after.findIndex((byte, i) => inGap[Math.floor(i / size)] === 1 && byte !== this.before[i]);
    if (bad >= 0)
      throw new CaseFailure(
        `${this.name}: element ${Math.floor(bad / size)}, in a gap between rows, was written; it held ${this.isInput ? 'NaN' : 'poison, a NaN'}`,
      );
    return packed;
  }
}

/** The operands of a call, as they are made. */
export class Slots {
  readonly all: Slot[] = [];

  /** An operand that the op only reads. */
  input(values: ArrayLike<number>, dtype: SlotDType = 'f32'): Slot {
    return this.#add(new Slot(encode(values, dtype), dtype, true, false));
  }

  /** An operand that the op only reads, as it lies in memory. */
  stored(bytes: Uint8Array, dtype: DType): Slot {
    return this.#add(new Slot(bytes, dtype, true, false));
  }

  /** An operand that the op writes, filled with poison. */
  output(length: number, dtype: StoredFloatDType = 'f32'): Slot {
    return this.#add(new Slot(poison(length * BYTES_OF[dtype]), dtype, false, true));
  }

  /** An operand that the op reads and writes. */
  inOut(values: ArrayLike<number>, dtype: StoredFloatDType = 'f32'): Slot {
    return this.#add(new Slot(encode(values, dtype), dtype, true, true));
  }

  #add(slot: Slot): Slot {
    this.all.push(slot);
    return slot;
  }
}

/** Gives slots the names that the call has for them. */
export function nameSlots(slots: Readonly<Record<string, Slot>>): void {
  for (const [name, slot] of Object.entries(slots)) slot.name = name;
}

/** Bytes that no operand holds. */
export function poison(length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4)).fill(POISON);
  return new Uint8Array(words.buffer, 0, length);
}

function encode(values: ArrayLike<number>, dtype: SlotDType): Uint8Array {
  if (dtype === 'f16') return new Uint8Array(toF16Array(values).buffer);
  if (dtype === 'bf16') return new Uint8Array(toBf16Array(values).buffer);
  const ofWords = { f32: Float32Array, u32: Uint32Array, i32: Int32Array, u8: Uint8Array };
  return new Uint8Array(new ofWords[dtype](values).buffer);
}

/** The places of the operands of one op. */
interface Layout {
  /** Bytes that every operand is moved away from the alignment of its allocation. */
  readonly offsetBytes?: number;
  /** All operands in one allocation, 4 bytes apart. */
  readonly together?: boolean;
}

/** The device memory of one op: lays out operands between guards, runs it, and checks that nothing else was touched. */
export class Workspace extends Slots {
  readonly #backend: ComputeBackend;
  readonly #layout: Layout;

  constructor(backend: ComputeBackend, layout: Layout = {}) {
    super();
    this.#backend = backend;
    this.#layout = layout;
  }

  /**
   * Uploads everything, calls `op`, and reads everything back.
   *
   * @throws {CaseFailure} when an input or a guard has changed
   */
  async run(op: () => void): Promise<void> {
    const { offsetBytes = 0, together = false } = this.#layout;
    const groups = together ? [this.all] : this.all.map((slot) => [slot]);
    const placed: { readonly image: Image; readonly base: DevicePtr }[] = [];
    try {
      for (const slots of groups) {
        const image = placeSlots(slots, offsetBytes);
        const base = this.#backend.alloc(image.bytes.length, { label: 'conformance' });
        image.moveTo(base);
        placed.push({ image, base });
      }
      for (const { image, base } of placed) this.#backend.copyHtod(base, image.bytes);
      op();
      for (const { image, base } of placed) {
        const after = new Uint8Array(image.bytes.length);
        await this.#backend.copyDtoh(after, base);
        compareImage(image, after);
      }
    } finally {
      for (const { base } of placed) this.#backend.free(base);
    }
  }
}
