import { f32ToF16Bits, type FloatDType, fromF16Array } from '@concord/backend-core';
import type { Operand } from '@concord/backend-core/implement';

/** Float32 elements, or f16 ones as bits. */
export type Storage = Float32Array | Uint16Array;

/** The elements of an operand as they lie in memory, not a copy. */
export function storageOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>, dtype: FloatDType): Storage {
  return dtype === 'f32'
    ? new Float32Array(buffer, byteOffset, byteLength / 4)
    : new Uint16Array(buffer, byteOffset, byteLength / 2);
}

/** The elements of an operand as numbers: a copy where they are f16. */
export function floatsOf(operand: Operand<ArrayBuffer>, dtype: FloatDType): Float32Array {
  const elements = storageOf(operand, dtype);
  return elements instanceof Uint16Array ? fromF16Array(elements) : elements;
}

/** Rounds a float64 once to what the elements are. */
export function put(to: Storage, at: number, value: number): void {
  to[at] = to instanceof Uint16Array ? f32ToF16Bits(value) : value;
}
