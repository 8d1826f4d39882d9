import type { FloatDType } from '@concord/backend-core';
import type { Operand } from '@concord/backend-core/implement';
import type { Storage } from './half.ts';

/** The float32 elements of an operand, not a copy. */
export function floatsOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Float32Array<ArrayBuffer> {
  return new Float32Array(buffer, byteOffset, byteLength / 4);
}

/** The f16 elements of an operand as bits, not a copy. */
export function halvesOf({ buffer, byteOffset, byteLength }: Operand<ArrayBuffer>): Uint16Array<ArrayBuffer> {
  return new Uint16Array(buffer, byteOffset, byteLength / 2);
}

/** The elements of an operand of a product, not a copy. */
export function storageOf(operand: Operand<ArrayBuffer>, dtype: FloatDType): Storage {
  return dtype === 'f32' ? floatsOf(operand) : halvesOf(operand);
}
