import type { StoredFloatDType } from '@concord/backend-core';
import {
  f32,
  f32x4,
  type FunctionBody,
  i16x8,
  i32,
  i32x4,
  type Operand,
  type Value,
  v128,
} from '../../encoder/index.ts';
import { floatToBfloat, floatToHalf, halfToFloat } from '../arithmetic/half.ts';
import { type Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { HoistedConstants } from './hoisted-constants.ts';

type Address = Operand<'i32'>;

/** Loads of float32 values in one storage type; its constants are locals of one function. */
export interface FloatLoads {
  /** log2 of the bytes of an element. */
  readonly shift: 1 | 2;
  load1(address: Address, offset?: number): Value<'f32'>;
  load4(address: Address, offset?: number): Value<'v128'>;
}

/** And stores. */
export interface FloatStorage extends FloatLoads {
  /** Elements from four places. */
  gather4(addresses: readonly Value<'i32'>[]): Value<'v128'>;
  /** Rounds to nearest even; NaN stays NaN. */
  store1(address: Address, value: Value<'f32'>, offset?: number): void;
  store4(address: Address, value: Value<'v128'>, offset?: number): void;
}

export const STORAGE_SHIFT: Readonly<Record<StoredFloatDType, 1 | 2>> = { f32: 2, f16: 1, bf16: 1 };

/** Storage of a type in a function; constants are computed at this place. */
export function floatStorage(dtype: StoredFloatDType, body: FunctionBody): FloatStorage {
  return dtype === 'f32' ? new Singles(body) : dtype === 'f16' ? new Halves(body) : new UpperHalves(body);
}

/** Loads of a type in a function, likewise. */
export function floatLoads(dtype: StoredFloatDType, body: FunctionBody): FloatLoads {
  return floatStorage(dtype, body);
}

class Singles implements FloatStorage {
  readonly shift = 2;
  readonly load1 = f32.load;
  readonly load4 = v128.load;
  readonly gather4 = ([first, ...others]: readonly Value<'i32'>[]): Value<'v128'> =>
    others.reduce((all, at, i) => v128.load32Lane(at, all, i + 1), v128.load32Zero(first as Value<'i32'>));
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

/** Elements of 16 bits. */
abstract class Sixteens implements FloatStorage {
  readonly shift = 1;
  protected readonly a: WasmArithmetic;
  readonly #body: FunctionBody;

  constructor(body: FunctionBody) {
    this.#body = body;
    this.a = new WasmArithmetic(body, new HoistedConstants(body), false);
  }

  /** The numbers that bits stand for. */
  protected abstract value(bits: Value<'v128'>): Value<'v128'>;
  /** And back. */
  protected abstract bits(value: Value<'v128'>): Vector;

  load1(address: Address, offset = 0): Value<'f32'> {
    return f32x4.extractLane(this.value(i32x4.splat(i32.load16U(address, offset))), 0);
  }

  load4(address: Address, offset = 0): Value<'v128'> {
    return this.value(v128.load16x4U(address, offset));
  }

  gather4(addresses: readonly Value<'i32'>[]): Value<'v128'> {
    const none: Value<'v128'> = i32x4.splat(0);
    return this.value(addresses.reduce((all, at, i) => v128.load16Lane(at, all, 2 * i), none));
  }

  store1(address: Address, value: Value<'f32'>, offset = 0): void {
    this.#body.emit(i32.store16(address, i32x4.extractLane(this.bits(f32x4.splat(value)), 0), offset));
  }

  store4(address: Address, value: Value<'v128'>, offset = 0): void {
    const bits = this.bits(value);
    this.#body.emit(v128.store64Lane(address, i16x8.narrowI32x4U(bits, bits), 0, offset));
  }
}

class Halves extends Sixteens {
  protected value(bits: Value<'v128'>): Vector {
    return halfToFloat(this.a, this.a.keep(bits));
  }

  protected bits(value: Value<'v128'>): Vector {
    return floatToHalf(this.a, this.a.keep(value));
  }
}

/** bfloat16: the upper half of a float32. */
class UpperHalves extends Sixteens {
  protected value(bits: Value<'v128'>): Value<'v128'> {
    return i32x4.shl(bits, 16);
  }

  protected bits(value: Value<'v128'>): Vector {
    return floatToBfloat(this.a, this.a.keep(value));
  }
}
