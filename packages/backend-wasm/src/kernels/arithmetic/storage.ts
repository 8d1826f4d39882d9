import type { DType } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import { fromBf16 } from '@concord/kernel';
import { i16x8, i32, i32x4, i8x16, type Local, type Statement, type Value, v128 } from '../../encoder/index.ts';
import { floatToBfloat, floatToHalf, halfToFloat } from './half.ts';
import type { Vector, WasmArithmetic } from './wasm-arithmetic.ts';

/** Four elements side by side, each as the 32 bits of its integer or, of f16 and bf16, as its 16 bits. */
export function loadDense(dtype: DType, pointer: Local<'i32'>, offset: number): Value<'v128'> {
  const bytes = BYTES_OF[dtype];
  if (bytes === 4) return v128.load(pointer, offset);
  if (bytes === 2) return v128.load16x4U(pointer, offset);
  const four = v128.load32Zero(pointer, offset);
  if (dtype === 'i8') return i32x4.extendLowI16x8S(i16x8.extendLowI8x16S(four));
  return i32x4.extendLowI16x8U(i16x8.extendLowI8x16U(four));
}

/** One element in all components, as {@link loadDense} has it. */
export function loadSplat(dtype: DType, pointer: Value<'i32'>): Value<'v128'> {
  const bytes = BYTES_OF[dtype];
  if (bytes === 4) return v128.load32Splat(pointer);
  return i32x4.splat((bytes === 2 ? i32.load16U : dtype === 'i8' ? i32.load8S : i32.load8U)(pointer));
}

/** Loads an element for each component, each from its own address; the result is as that of {@link loadDense}. */
export function loadLanes(dtype: DType, addresses: readonly Value<'i32'>[], zero: Vector): Value<'v128'> {
  const bytes = BYTES_OF[dtype];
  const load = bytes === 4 ? v128.load32Lane : bytes === 2 ? v128.load16Lane : v128.load8Lane;
  const loaded = addresses.reduce<Value<'v128'>>(
    (vector, address, lane) => load(address, vector, (lane * 4) / bytes),
    zero,
  );
  return dtype === 'i8' ? i32x4.shrS(i32x4.shl(loaded, 24), 24) : loaded;
}

/** Elements as values. */
export function decode(a: WasmArithmetic, dtype: DType, raw: Value<'v128'>): Vector {
  const kept = a.keep(raw);
  if (dtype === 'f16') return halfToFloat(a, kept);
  return dtype === 'bf16' ? fromBf16(a, kept) : kept;
}

/** Values as elements, rounded or saturated, for the store functions. */
export function encode(a: WasmArithmetic, dtype: DType, value: Vector): Vector {
  if (dtype === 'f16') return floatToHalf(a, value);
  if (dtype === 'bf16') return floatToBfloat(a, value);
  if (dtype === 'u8') return a.min('u32', value, a.constant('u32', 255));
  if (dtype !== 'i8') return value;
  return a.min('i32', a.max('i32', value, a.constant('i32', -128)), a.constant('i32', 127));
}

/** Writes four elements side by side. */
export function storeDense(dtype: DType, pointer: Local<'i32'>, raw: Vector, offset: number): Statement {
  switch (BYTES_OF[dtype]) {
    case 4:
      return v128.store(pointer, raw, offset);
    case 2:
      return v128.store64Lane(pointer, i16x8.narrowI32x4U(raw, raw), 0, offset);
    default: {
      const isSigned = dtype === 'i8';
      const halves = (isSigned ? i16x8.narrowI32x4S : i16x8.narrowI32x4U)(raw, raw);
      const narrow = (isSigned ? i8x16.narrowI16x8S : i8x16.narrowI16x8U)(halves, halves);
      return v128.store32Lane(pointer, narrow, 0, offset);
    }
  }
}

/** Writes components to an address each; there may be fewer than four. */
export function storeLanes(dtype: DType, addresses: readonly Value<'i32'>[], raw: Vector): readonly Statement[] {
  const bytes = BYTES_OF[dtype];
  const store = bytes === 4 ? v128.store32Lane : bytes === 2 ? v128.store16Lane : v128.store8Lane;
  return addresses.map((address, lane) => store(address, raw, (lane * 4) / bytes));
}
