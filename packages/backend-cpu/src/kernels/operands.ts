import { f32ToF16Bits, type StoredFloatDType, fromBf16Array, fromF16Array } from '@concord/backend-core';
import type { Operand } from '@concord/backend-core/implement';

/** Float32 elements, or f16 ones as bits. */
export type Storage = Float32Array | Uint16Array;

/** The elements of an operand as they lie in memory, not a copy. */
export function storageOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>, dtype: StoredFloatDType): Storage {
  return dtype === 'f32'
    ? new Float32Array(buffer, byteOffset, byteLength / 4)
    : new Uint16Array(buffer, byteOffset, byteLength / 2);
}

/** The elements of an operand as numbers: a copy where they are not f32. */
export function floatsOf(operand: Operand<ArrayBuffer>, dtype: StoredFloatDType): Float32Array {
  const elements = storageOf(operand, dtype);
  if (!(elements instanceof Uint16Array)) return elements;
  return dtype === 'bf16' ? fromBf16Array(elements) : fromF16Array(elements);
}

/** Rounds a float64 once to what the elements are. */
export function put(to: Storage, at: number, value: number): void {
  to[at] = to instanceof Uint16Array ? f32ToF16Bits(value) : value;
}
