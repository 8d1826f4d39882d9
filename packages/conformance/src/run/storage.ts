import type { StoredElements } from '@concord/backend-cpu/reference';
import { type DType, f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';

const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);

/** Bytes of an element in memory. */
export function bytesOf(dtype: DType): number {
  return ELEMENT_TYPES[dtype].bytes;
}

/** The bits that hold a number in memory, in the low bits of the result: rounded to nearest even, or saturated. */
export function encodeElement(dtype: DType, value: number): number {
  switch (dtype) {
    case 'f32':
      return floatBits(value);
    case 'f16':
      return f32ToF16Bits(value);
    case 'bf16':
      return bf16Bits(value);
    case 'i8':
      return Math.min(Math.max(value, -128), 127) & 0xff;
    case 'u8':
      return Math.min(value, 255) & 0xff;
    case 'i32':
    case 'u32':
      return value >>> 0;
  }
}

/** The number that bits in memory stand for. */
export function decodeElement(dtype: DType, bits: number): number {
  switch (dtype) {
    case 'f32':
      return bitsFloat(bits);
    case 'f16':
      return f16BitsToF32(bits);
    case 'bf16':
      return bitsFloat(bits << 16);
    case 'i8':
      return (bits << 24) >> 24;
    case 'i32':
      return bits | 0;
    case 'u8':
    case 'u32':
      return bits >>> 0;
  }
}

/** Elements as they lie in memory, of bytes that begin with the first. */
export function storedElements(dtype: DType, bytes: Uint8Array<ArrayBuffer>): StoredElements {
  return new ELEMENT_TYPES[dtype].Stored(bytes.buffer);
}

/** The numbers in the bytes of an operand. */
export function numbersIn(dtype: DType, bytes: Uint8Array): Float64Array {
  const stored = storedElements(dtype, bytes.slice());
  return Float64Array.from(stored, (bits) => (dtype === 'f32' ? bits : decodeElement(dtype, bits)));
}

/** Rounds a number to one that a dtype holds. */
export const roundingTo =
  (dtype: DType): ((x: number) => number) =>
  (x) =>
    decodeElement(dtype, encodeElement(dtype, x));

/** Puts the bits of an element into some bytes. */
export function writeBits(bytes: DataView, dtype: DType, at: number, bits: number): void {
  const size = bytesOf(dtype);
  if (size === 4) bytes.setUint32(at, bits, true);
  else if (size === 2) bytes.setUint16(at, bits, true);
  else bytes.setUint8(at, bits);
}

/** The float32 with those 32 bits. */
export function bitsFloat(bits: number): number {
  WORD[0] = bits;
  return FLOAT[0] as number;
}

/** The 32 bits of a number that is rounded to float32. */
export function floatBits(value: number): number {
  FLOAT[0] = value;
  return WORD[0] as number;
}

function bf16Bits(value: number): number {
  if (Number.isNaN(value)) return 0x7fc0;
  const bits = floatBits(value);
  const rounded = bits + 0x7fff + ((bits >>> 16) & 1);
  return (rounded >>> 16) & 0xffff;
}
