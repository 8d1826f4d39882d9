import { BYTES_OF } from '@concord/backend-core/implement';
import type { DType } from '@concord/backend-core';
import { fromBf16, fromF16, toBf16, toF16 } from '@concord/kernel';
import type { FunctionBuilder, PointerType, Type, Value } from '@concord/spirv-builder';
import { SpirvArithmetic, spirvType, type Width, widthOf } from './spirv-arithmetic.ts';

/** The access to memory: its content, and the number of bytes that its address is known to be a multiple of. */
export interface Storage {
  readonly dtype: DType;
  readonly align: number;
}

/** The content of the memory behind a pointer of an operand, as kernels declare it. */
export function pointeeOf(dtype: DType): 'f32' | 'u32' | 'u16' | 'u8' {
  if (dtype === 'f32') return 'f32';
  return ({ 1: 'u8', 2: 'u16', 4: 'u32' } as const)[BYTES_OF[dtype]];
}

/** The content of memory, unchanged: one element, or neighbours as a vector. */
export function loadRaw(k: FunctionBuilder, pointer: Value, width: Width, { align }: Storage): Value {
  return width === 1 ? k.load(pointer) : k.loadVector(pointer, width, { align });
}

/** The value of what lies in memory. */
export function decode(k: FunctionBuilder, raw: Value, dtype: DType): Value {
  if (dtype === 'f32' || dtype === 'i32' || dtype === 'u32') return raw;
  const width = widthOf(raw);
  const word = spirvType(k, 'u32', width);
  if (dtype === 'i8') return k.sconvert(raw, word);
  const bits = k.uconvert(raw, word);
  if (dtype === 'u8') return bits;
  const a = new SpirvArithmetic(k, width);
  return dtype === 'f16' ? fromF16(a, bits) : fromBf16(a, bits);
}

/** A value as it is in memory: floats rounded to the nearest, integers saturated. */
export function encode(k: FunctionBuilder, value: Value, dtype: DType): Value {
  if (dtype === 'f32' || dtype === 'i32' || dtype === 'u32') return value;
  const width = widthOf(value);
  const a = new SpirvArithmetic(k, width);
  const narrow = (bits: Value, size: 8 | 16): Value => k.uconvert(bits, integers(k, size, width));
  const limit = (number: number): Value => a.constant('i32', number);
  if (dtype === 'f16') return narrow(toF16(a, value), 16);
  if (dtype === 'bf16') return narrow(toBf16(a, value), 16);
  if (dtype === 'u8') return narrow(a.min('u32', value, limit(255)), 8);
  return narrow(a.min('i32', a.max('i32', value, limit(-128)), limit(127)), 8);
}

/** Writes what {@link encode} gave. */
export function storeRaw(k: FunctionBuilder, pointer: Value, raw: Value, { align }: Storage): void {
  if (raw.type.kind === 'vector') k.storeVector(pointer, raw, { align });
  else k.store(pointer, raw);
}

/** One raw element of a pointer's memory at each of some places, as a vector. */
export function vectorOf(k: FunctionBuilder, pointer: Value, elements: readonly Value[]): Value {
  const [first] = elements as readonly [Value];
  if (elements.length === 1) return first;
  const { pointee } = pointer.type as PointerType;
  return k.vector(k.types.vector(pointee as never, elements.length as never), ...elements);
}

function integers(k: FunctionBuilder, bits: 8 | 16, width: Width): Type {
  const scalar = k.types.int(bits);
  return width === 1 ? scalar : k.types.vector(scalar, width);
}
