import type { FloatDType } from '@concord/backend-core';
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
import { floatToHalf, halfToFloat } from '../arithmetic/half.ts';
import { type Vector, WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';
import { HoistedConstants } from './hoisted-constants.ts';

type Address = Operand<'i32'>;

/** Loads and stores of float32 values in one storage type; its constants are locals of one function. */
export interface FloatStorage {
  /** log2 of the bytes of an element. */
  readonly shift: 1 | 2;
  load1(address: Address, offset?: number): Value<'f32'>;
  load4(address: Address, offset?: number): Value<'v128'>;
  /** Elements from four places. */
  gather4(addresses: readonly Value<'i32'>[]): Value<'v128'>;
  /** Rounds to nearest even; NaN stays NaN. */
  store1(address: Address, value: Value<'f32'>, offset?: number): void;
  store4(address: Address, value: Value<'v128'>, offset?: number): void;
}

/** The loads of a {@link FloatStorage}. */
export type FloatLoads = Pick<FloatStorage, 'shift' | 'load1' | 'load4'>;

export const STORAGE_SHIFT: Readonly<Record<FloatDType | 'bf16', 1 | 2>> = { f32: 2, f16: 1, bf16: 1 };

/** Loads of a type that weights may have in a function. */
export function floatLoads(dtype: FloatDType | 'bf16', body: FunctionBody): FloatLoads {
  return dtype === 'bf16' ? BFLOATS : floatStorage(dtype, body);
}

const BFLOATS: FloatLoads = {
  shift: 1,
  load1: (address, offset = 0) => f32x4.extractLane(i32x4.splat(i32.shl(i32.load16U(address, offset), 16)), 0),
  load4: (address, offset = 0) => i32x4.shl(v128.load16x4U(address, offset), 16),
};

/** Storage of a type in a function; constants are computed at this place. */
export function floatStorage(dtype: FloatDType, body: FunctionBody): FloatStorage {
  return dtype === 'f32' ? new Singles(body) : new Halves(body);
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

class Halves implements FloatStorage {
  readonly shift = 1;
  readonly #body: FunctionBody;
  readonly #a: WasmArithmetic;

  constructor(body: FunctionBody) {
    this.#body = body;
    this.#a = new WasmArithmetic(body, new HoistedConstants(body), false);
  }

  load1(address: Address, offset = 0): Value<'f32'> {
    return f32x4.extractLane(this.#value(i32x4.splat(i32.load16U(address, offset))), 0);
  }

  load4(address: Address, offset = 0): Value<'v128'> {
    return this.#value(v128.load16x4U(address, offset));
  }

  gather4(addresses: readonly Value<'i32'>[]): Value<'v128'> {
    const none: Value<'v128'> = i32x4.splat(0);
    return this.#value(addresses.reduce((all, at, i) => v128.load16Lane(at, all, 2 * i), none));
  }

  store1(address: Address, value: Value<'f32'>, offset = 0): void {
    this.#body.emit(i32.store16(address, i32x4.extractLane(this.#half(f32x4.splat(value)), 0), offset));
  }

  store4(address: Address, value: Value<'v128'>, offset = 0): void {
    const half = this.#half(value);
    this.#body.emit(v128.store64Lane(address, i16x8.narrowI32x4U(half, half), 0, offset));
  }

  #value(bits: Value<'v128'>): Vector {
    return halfToFloat(this.#a, this.#a.keep(bits));
  }

  #half(value: Value<'v128'>): Vector {
    return floatToHalf(this.#a, this.#a.keep(value));
  }
}
