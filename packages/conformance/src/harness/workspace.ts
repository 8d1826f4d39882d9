import {
  type ComputeBackend,
  type DevicePtr,
  type DType,
  type FloatDType,
  fromF16Array,
  offsetPtr,
  toF16Array,
} from '@concord/backend-core';
import { compareBytes } from '../checks/compare.ts';
import { bytesOf, decodeElement, storedElements } from '../run/storage.ts';
import { CaseFailure } from './case.ts';

/**
 * What surrounds every operand and fills every output before the op. As float32 and as binary16 it is NaN, so that reading
 * what should not be read shows.
 */
const POISON = 0x7fc57fc5;
/** Poison on each side of an operand. */
const GUARD_BYTES = 64;
/** Distance of operands that share an allocation. */
const GAP_BYTES = 4;

/** Where the operands of one op lie. */
export interface Layout {
  /** Bytes that every operand is moved away from the alignment of its allocation. */
  readonly offsetBytes?: number;
  /** All operands in one allocation, 4 bytes apart. */
  readonly together?: boolean;
}

/** One operand: where it is, and what it held before. */
export class Slot {
  /** Valid while the op runs. */
  ptr: DevicePtr = 0 as DevicePtr;
  /** Contents after the op. */
  after: Uint8Array = new Uint8Array();
  readonly before: Uint8Array;
  readonly dtype: DType;
  readonly isOutput: boolean;
  /** Whether the op may read it. */
  readonly isInput: boolean;

  constructor(before: Uint8Array, dtype: DType, isInput: boolean, isOutput: boolean) {
    this.before = before;
    this.dtype = dtype;
    this.isInput = isInput;
    this.isOutput = isOutput;
  }

  /** The elements before the op, those in gaps included. */
  valuesBefore(): Float32Array {
    return decode(this.before, this.dtype);
  }

  /** The elements after the op, those in gaps included. */
  values(): Float32Array {
    return decode(this.after, this.dtype);
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
    const size = this.dtype === 'f16' ? 2 : 4;
    const bad = this.after.findIndex((byte, i) => inGap[Math.floor(i / size)] === 1 && byte !== this.before[i]);
    if (bad >= 0)
      throw new CaseFailure(`output: element ${Math.floor(bad / size)}, in a gap between rows, was written`);
    return packed;
  }
}

/** What a listener is told of an operand. */
export interface HeardOperand {
  /** Its name in the call, where whoever tells of it knows it. */
  readonly name?: string;
  readonly ptr: DevicePtr;
  readonly dtype: DType;
  readonly isInput: boolean;
  readonly isOutput: boolean;
  /** The elements before the op, those in gaps included. */
  valuesBefore(): ArrayLike<number> & Iterable<number>;
}

/** Told of the operands of every op that runs on a backend, before it runs. */
export type OperandListener = (operands: readonly HeardOperand[]) => void;

const listeners = new WeakMap<ComputeBackend, OperandListener>();

/** Lets `listener` see the operands of what cases run on `backend`. */
export function listenToOperands(backend: ComputeBackend, listener: OperandListener): void {
  listeners.set(backend, listener);
}

/** Tells the listener of a backend of the operands of the next op. */
export function tellOperands(backend: ComputeBackend, operands: readonly HeardOperand[]): void {
  listeners.get(backend)?.(operands);
}

/** The device memory of one op: lays out operands between guards, runs it, and checks that nothing else was touched. */
export class Workspace {
  readonly #backend: ComputeBackend;
  readonly #layout: Layout;
  readonly #slots: Slot[] = [];

  constructor(backend: ComputeBackend, layout: Layout = {}) {
    this.#backend = backend;
    this.#layout = layout;
  }

  /** An operand that the op only reads. */
  input(values: ArrayLike<number>, dtype: FloatDType = 'f32'): Slot {
    return this.#add(new Slot(encode(values, dtype), dtype, true, false));
  }

  /** An operand that the op only reads, as it lies in memory. */
  stored(bytes: Uint8Array, dtype: DType): Slot {
    return this.#add(new Slot(bytes, dtype, true, false));
  }

  /** An operand that the op writes, filled with poison. */
  output(length: number, dtype: FloatDType = 'f32'): Slot {
    return this.#add(new Slot(poison(length * (dtype === 'f16' ? 2 : 4)), dtype, false, true));
  }

  /** An operand that the op reads and writes. */
  inOut(values: ArrayLike<number>, dtype: FloatDType = 'f32'): Slot {
    return this.#add(new Slot(encode(values, dtype), dtype, true, true));
  }

  /**
   * Uploads everything, calls `op`, and reads everything back.
   *
   * @throws {CaseFailure} when an input or a guard has changed
   */
  async run(op: () => void): Promise<void> {
    const groups = this.#layout.together === true ? [this.#slots] : this.#slots.map((slot) => [slot]);
    const placed = groups.map((slots) => this.#place(slots));
    try {
      tellOperands(this.#backend, this.#slots);
      for (const { image, base } of placed) this.#backend.copyHtod(base, image);
      op();
      for (const { image, base, slots } of placed) {
        const after = new Uint8Array(image.length);
        await this.#backend.copyDtoh(after, base);
        for (const slot of slots) {
          const at = slot.ptr - base;
          slot.after = after.slice(at, at + slot.before.length);
          // What the op may write is compared by the case; here it must not disturb the comparison of the rest.
          if (slot.isOutput) after.set(slot.before, at);
        }
        compareBytes('inputs and guard bytes', after, image);
      }
    } finally {
      for (const { base } of placed) this.#backend.free(base);
    }
  }

  #add(slot: Slot): Slot {
    this.#slots.push(slot);
    return slot;
  }

  #place(slots: readonly Slot[]): { image: Uint8Array; base: DevicePtr; slots: readonly Slot[] } {
    let size = GUARD_BYTES + (this.#layout.offsetBytes ?? 0);
    const offsets = slots.map((slot) => {
      // An offset that is right for binary16 need not be for the float32 inputs of an epilogue.
      size = Math.ceil(size / bytesOf(slot.dtype)) * bytesOf(slot.dtype);
      const at = size;
      // Kept a multiple of 4, so that float32 operands behind an odd number of binary16 ones stay aligned.
      size += Math.ceil(slot.before.length / 4) * 4 + GAP_BYTES;
      return at;
    });
    const image = poison(size + GUARD_BYTES);
    const base = this.#backend.alloc(image.length, { label: 'conformance' });
    for (const [index, slot] of slots.entries()) {
      image.set(slot.before, offsets[index]);
      slot.ptr = offsetPtr(base, offsets[index] as number);
    }
    return { image, base, slots };
  }
}

function poison(length: number): Uint8Array {
  const words = new Uint32Array(Math.ceil(length / 4)).fill(POISON);
  return new Uint8Array(words.buffer, 0, length);
}

function encode(values: ArrayLike<number>, dtype: FloatDType): Uint8Array {
  const elements = dtype === 'f16' ? toF16Array(values) : new Float32Array(values);
  return new Uint8Array(elements.buffer);
}

function decode(bytes: Uint8Array, dtype: DType): Float32Array {
  if (dtype !== 'f32' && dtype !== 'f16') {
    return Float32Array.from(storedElements(dtype, bytes.slice()), (bits) => decodeElement(dtype, bits));
  }
  const { buffer } = bytes.slice();
  return dtype === 'f16' ? fromF16Array(new Uint16Array(buffer)) : new Float32Array(buffer);
}
