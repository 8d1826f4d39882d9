/** Points that are computed at once, where values between inputs and outputs have to be kept. */
export const BLOCK = 1024;

/**
 * Where the values of a node lie while a block is computed: in a register (a scratch array) or in an operand's memory. The
 * three arrays are one memory: a float32, an i32 (and a bool, 0 or 1), a u32 are read by their own, bits by any.
 */
export interface Slot {
  f: Float32Array;
  i: Int32Array;
  u: Uint32Array;
  /** Place of the block's first value. */
  at: number;
  /** From one row of the block to the next. */
  rowStride: number;
  /** From one element of a row to the next. */
  elementStride: number;
}

const NONE = new ArrayBuffer(0);

/** A slot that has no memory yet. */
export function emptySlot(): Slot {
  return {
    f: new Float32Array(NONE),
    i: new Int32Array(NONE),
    u: new Uint32Array(NONE),
    at: 0,
    rowStride: 0,
    elementStride: 0,
  };
}

/** Gives a slot memory of 32-bit numbers. */
export function attach(slot: Slot, buffer: ArrayBufferLike, byteOffset: number, length: number): void {
  slot.f = new Float32Array(buffer, byteOffset, length);
  slot.i = new Int32Array(buffer, byteOffset, length);
  slot.u = new Uint32Array(buffer, byteOffset, length);
}

const registers: Slot[] = [];

/**
 * A register of `length` 32-bit numbers. Plans share them, as one is run at a time; of the same index those of one plan
 * are the same.
 */
export function register(index: number, length: number): Slot {
  const slot = emptySlot();
  const known = registers[index];
  if (known !== undefined && known.f.length >= length) {
    slot.f = known.f;
    slot.i = known.i;
    slot.u = known.u;
    return slot;
  }
  attach(slot, new ArrayBuffer(4 * Math.max(length, BLOCK)), 0, Math.max(length, BLOCK));
  registers[index] = { ...slot };
  return slot;
}
