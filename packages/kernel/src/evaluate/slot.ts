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
  /** Place of the block's first value: an int32, also for the engine, whose loops are slower over other numbers. */
  at: number;
}

/** A slot's values as float32, from the block's first on: loops that add a place to each index are slower. */
export function floats({ f, at }: Slot): Float32Array {
  return at === 0 ? f : f.subarray(at);
}

/** A slot's values as i32, bools or bits, from the block's first on. */
export function ints({ i, at }: Slot): Int32Array {
  return at === 0 ? i : i.subarray(at);
}

/** A slot's values as u32, from the block's first on. */
export function words({ u, at }: Slot): Uint32Array {
  return at === 0 ? u : u.subarray(at);
}

const NONE = new ArrayBuffer(0);

/** A slot that has no memory yet. */
export function emptySlot(): Slot {
  return {
    f: new Float32Array(NONE),
    i: new Int32Array(NONE),
    u: new Uint32Array(NONE),
    at: 0,
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
