import {
  f16BitsToF32,
  f32ToBf16Bits,
  f32ToF16Bits,
  fromBf16Array,
  fromF16Array,
  type StoredFloatDType,
} from '@concord/backend-core';
import type { Operand } from '@concord/backend-core/implement';

/** Elements of bf16 as bits. */
class Bfloats extends Uint16Array<ArrayBuffer> {}

/** Float32 elements, or those of f16 and bf16 as bits. */
export type Storage = Float32Array | Uint16Array;

/** The elements of an operand as they lie in memory, not a copy. */
export function storageOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>, dtype: StoredFloatDType): Storage {
  if (dtype === 'f32') return new Float32Array(buffer, byteOffset, byteLength / 4);
  return new (dtype === 'f16' ? Uint16Array : Bfloats)(buffer, byteOffset, byteLength / 2);
}

/** The elements of an operand as numbers: a copy where they are not f32. */
export function floatsOf(operand: Operand<ArrayBuffer>, dtype: StoredFloatDType): Float32Array {
  const elements = storageOf(operand, dtype);
  if (!(elements instanceof Uint16Array)) return elements;
  return dtype === 'bf16' ? fromBf16Array(elements) : fromF16Array(elements);
}

/** Rounds a float64 once to what the elements are. */
export function put(to: Storage, at: number, value: number): void {
  if (to instanceof Bfloats) to[at] = f32ToBf16Bits(value);
  else to[at] = to instanceof Uint16Array ? f32ToF16Bits(value) : value;
}

/** The number that an element is. */
export function get(from: Storage, at: number): number {
  const element = from[at] as number;
  if (from instanceof Bfloats) return fromBf16Array(from.subarray(at, at + 1))[0] as number;
  return from instanceof Uint16Array ? f16BitsToF32(element) : element;
}
