import {
  BYTES_OF,
  type StoredFloatDType,
  type DevicePtr,
  type DType,
  type FloatDType,
  toBf16Array,
  toF16Array,
} from '@concord/backend-core';
import { numbersIn } from '../run/storage.ts';
import { CaseFailure } from './case.ts';

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
  /** Its name in the call, such as `filter`. */
  name = 'an operand';
  /** Where its pointer is to be modulo 256; undefined: where there is room. */
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

  /** The elements before the op, those in gaps included. */
  valuesBefore(): Float32Array {
    return Float32Array.from(numbersIn(this.dtype, this.before));
  }

  /** The elements after the op, those in gaps included. */
  values(): Float32Array {
    return Float32Array.from(numbersIn(this.dtype, this.after));
  }

  /**
   * The logical elements after the op, packed, for an operand that is a batch of matrices with gaps.
   *
   * @throws {CaseFailure} when a byte in a gap has changed
   */
  matrices(batch: number, stride: number, rows: number, columns: number, rowStride: number): Float32Array {
    const all = this.values();
    const packed = new Float32Array(batch * rows * columns);
    const inGap = new Uint8Array(all.length).fill(1);
    let at = 0;
    for (let index = 0; index < batch; index++) {
      for (let row = 0; row < rows; row++) {
        const start = index * stride + row * rowStride;
        packed.set(all.subarray(start, start + columns), at);
        inGap.fill(0, start, start + columns);
        at += columns;
      }
    }
    const size = BYTES_OF[this.dtype];
    const bad = this.after.findIndex((byte, i) => inGap[Math.floor(i / size)] === 1 && byte !== this.before[i]);
    if (bad >= 0)
      throw new CaseFailure(
        `output: element ${Math.floor(bad / size)}, in a gap between rows, was written; it held ${this.isInput ? 'NaN' : 'poison, a NaN'}`,
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
  output(length: number, dtype: FloatDType = 'f32'): Slot {
    return this.#add(new Slot(poison(length * BYTES_OF[dtype]), dtype, false, true));
  }

  /** An operand that the op reads and writes. */
  inOut(values: ArrayLike<number>, dtype: FloatDType = 'f32'): Slot {
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
