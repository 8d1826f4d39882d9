import type { FloatDType } from '@concord/backend-core';
import {
  f32,
  f32x4,
  type FunctionBody,
  i32,
  i32x4,
  i8x16,
  type Local,
  type Operand,
  type Value,
  v128,
} from '../../encoder/index.ts';

type Address = Operand<'i32'>;

/** Loads and stores of float32 values in one storage type; its constants are locals of one function. */
export interface FloatStorage {
  /** log2 of the bytes of an element. */
  readonly shift: 1 | 2;
  load1(address: Address, offset?: number): Value<'f32'>;
  load4(address: Address, offset?: number): Value<'v128'>;
  /** Rounds to nearest even; NaN stays NaN. */
  store1(address: Address, value: Value<'f32'>, offset?: number): void;
  store4(address: Address, value: Value<'v128'>, offset?: number): void;
}

export const STORAGE_SHIFT: Readonly<Record<FloatDType, 1 | 2>> = { f32: 2, f16: 1 };

/** Storage of a type in a function; constants are computed at this place. */
export function floatStorage(dtype: FloatDType, body: FunctionBody): FloatStorage {
  return dtype === 'f32' ? new Singles(body) : new Halves(body);
}

class Singles implements FloatStorage {
  readonly shift = 2;
  readonly load1 = f32.load;
  readonly load4 = v128.load;
  readonly #body: FunctionBody;

  constructor(body: FunctionBody) {
    this.#body = body;
  }

  store1(address: Address, value: Value<'f32'>, offset = 0): void {
    this.#body.emit(f32.store(address, value, offset));
  }

  store4(address: Address, value: Value<'v128'>, offset = 0): void {
    this.#body.emit(v128.store(address, value, offset));
  }
}

/** The smallest float32 that is a normal binary16, and 65536, above which only infinity and NaN follow. */
const LEAST_NORMAL = 0x3880_0000;
const ABOVE_LARGEST = 0x4780_0000;

class Halves implements FloatStorage {
  readonly shift = 1;
  readonly #body: FunctionBody;
  readonly #constants = new Map<number, Local<'v128'>>();

  constructor(body: FunctionBody) {
    this.#body = body;
    // Before any loop, where they would be built again in each turn.
    const used = [0x7fff, 0x8000, 0x7bff, 0x7f80_0000, 0x7780_0000, 0x7fff_ffff];
    for (const bits of [...used, LEAST_NORMAL, ABOVE_LARGEST - 1, 0x3f00_0000, 1, 0xc800_0fff, 0x7e00, 0x7c00]) {
      this.#constants.set(bits, body.let(i32x4.splat(bits)));
    }
  }

  load1(address: Address, offset = 0): Value<'f32'> {
    return f32x4.extractLane(this.#widen(v128.load16Splat(address, offset), true), 0);
  }

  load4(address: Address, offset = 0): Value<'v128'> {
    return this.#widen(v128.load16x4U(address, offset), false);
  }

  store1(address: Address, value: Value<'f32'>, offset = 0): void {
    this.#body.emit(i32.store16(address, i32x4.extractLane(this.#narrow(f32x4.splat(value)), 0), offset));
  }

  store4(address: Address, value: Value<'v128'>, offset = 0): void {
    const halves = this.#body.let(this.#narrow(value));
    // The lower 16 bits of each component, side by side.
    const bytes = [0, 1, 4, 5, 8, 9, 12, 13, 0, 1, 4, 5, 8, 9, 12, 13];
    this.#body.emit(v128.store64Lane(address, i8x16.shuffle(halves, halves, bytes), 0, offset));
  }

  /**
   * The bits of a binary16 in each 32 as a float32, exact: shifted to float32's place a number is 2^112 too small, and a
   * product with that makes subnormals normal; infinity and NaN then get their exponent.
   */
  #widen(source: Value<'v128'>, isPacked: boolean): Value<'v128'> {
    const half = this.#body.let(isPacked ? i32x4.extendLowI16x8U(source) : source);
    const magnitude = this.#body.let(v128.and(half, this.#constant(0x7fff)));
    const finite = f32x4.mul(i32x4.shl(magnitude, 13), this.#constant(0x7780_0000));
    const special = v128.and(i32x4.gtS(magnitude, this.#constant(0x7bff)), this.#constant(0x7f80_0000));
    const sign = i32x4.shl(v128.and(half, this.#constant(0x8000)), 16);
    return this.#body.let(v128.or(v128.or(finite, special), sign));
  }

  /**
   * A float32 in each component as the 16 bits of a binary16, to nearest even. Subnormal results are rounded by an addition
   * of 0.5, whose last place is 2^-24.
   */
  #narrow(value: Value<'v128'>): Value<'v128'> {
    const body = this.#body;
    const bits = body.let(value);
    const magnitude = body.let(v128.and(bits, this.#constant(0x7fff_ffff)));
    const half = this.#constant(0x3f00_0000);
    const subnormal = i32x4.sub(f32x4.add(magnitude, half), half);
    const isOdd = v128.and(i32x4.shrU(magnitude, 13), this.#constant(1));
    const normal = i32x4.shrU(i32x4.add(i32x4.add(magnitude, this.#constant(0xc800_0fff)), isOdd), 13);
    const finite = v128.bitselect(subnormal, normal, i32x4.ltS(magnitude, this.#constant(LEAST_NORMAL)));
    const isNaN = i32x4.gtS(magnitude, this.#constant(0x7f80_0000));
    const special = v128.bitselect(this.#constant(0x7e00), this.#constant(0x7c00), isNaN);
    const unsigned = v128.bitselect(special, finite, i32x4.gtS(magnitude, this.#constant(ABOVE_LARGEST - 1)));
    const sign = v128.and(i32x4.shrU(bits, 16), this.#constant(0x8000));
    return body.let(v128.or(unsigned, sign));
  }

  #constant(bits: number): Local<'v128'> {
    return this.#constants.get(bits) as Local<'v128'>;
  }
}
