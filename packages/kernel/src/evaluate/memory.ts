import type { DType } from '@concord/backend-core';
import { f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { Slot } from './slot.ts';

/** Elements in memory, by their bits; i8 and u8 as numbers. */
export type Elements = Int32Array | Uint16Array | Int8Array | Uint8Array;

let halves: Int32Array | undefined;

/** The bits of the float32 for each binary16. */
function halfTable(): Int32Array {
  if (halves === undefined) {
    halves = new Int32Array(65_536);
    const float = new Float32Array(halves.buffer);
    for (let bits = 0; bits < 65_536; bits++) {
      const isNan = (bits & 0x7fff) > 0x7c00;
      // What a NaN carries is kept too.
      if (isNan) halves[bits] = ((bits & 0x8000) << 16) | 0x7f80_0000 | ((bits & 0x3ff) << 13);
      else float[bits] = f16BitsToF32(bits);
    }
  }
  return halves;
}

/** The elements of an operand that starts at a byte. */
export function elementsOf(dtype: DType, buffer: ArrayBufferLike, byteOffset: number, length: number): Elements {
  switch (dtype) {
    case 'f16':
    case 'bf16':
      return new Uint16Array(buffer, byteOffset, length);
    case 'i8':
      return new Int8Array(buffer, byteOffset, length);
    case 'u8':
      return new Uint8Array(buffer, byteOffset, length);
    default:
      return new Int32Array(buffer, byteOffset, length);
  }
}

/** The bits of one element as a kernel has it. */
export function readBits(dtype: DType, from: Elements, at: number): number {
  if (dtype === 'f16') return halfTable()[from[at]!]!;
  return dtype === 'bf16' ? from[at]! << 16 : from[at]!;
}

/** Copies a plane of elements into a register, plane after plane of it: `outer` by `inner`, in this order. */
export function load(
  dtype: DType,
  to: Int32Array,
  from: Elements,
  start: number,
  outer: number,
  outerStride: number,
  inner: number,
  innerStride: number,
): void {
  let k = 0;
  const table = dtype === 'f16' ? halfTable() : undefined;
  for (let o = 0; o < outer; o++) {
    let at = start + o * outerStride;
    const end = k + inner;
    if (table !== undefined) for (; k < end; k++, at += innerStride) to[k] = table[from[at]!]!;
    else if (dtype === 'bf16') for (; k < end; k++, at += innerStride) to[k] = from[at]! << 16;
    else for (; k < end; k++, at += innerStride) to[k] = from[at]!;
  }
}

/** Copies a register into a plane of elements; the inverse of {@link load}. */
export function store(
  dtype: DType,
  slot: Slot,
  to: Elements,
  start: number,
  outer: number,
  outerStride: number,
  inner: number,
  innerStride: number,
): void {
  const { i: bits, u } = slot;
  let k = slot.at;
  for (let o = 0; o < outer; o++) {
    let at = start + o * outerStride;
    const end = k + inner;
    switch (dtype) {
      case 'f16':
        for (; k < end; k++, at += innerStride) to[at] = toF16(bits[k]!);
        break;
      case 'bf16':
        for (; k < end; k++, at += innerStride) to[at] = toBf16(bits[k]!);
        break;
      case 'i8':
        for (; k < end; k++, at += innerStride) to[at] = Math.max(-128, Math.min(127, bits[k]!));
        break;
      case 'u8':
        for (; k < end; k++, at += innerStride) to[at] = Math.min(255, u[k]!);
        break;
      default:
        for (; k < end; k++, at += innerStride) to[at] = bits[k]!;
    }
  }
}

const MIN_NORMAL = 0x3880_0000;
const INFINITE = 0x477f_f000;
const word = new Int32Array(1);
const float = new Float32Array(word.buffer);

/** Rounded to nearest even; NaN with the bits of it for which there is room. */
function toF16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return sign | 0x7c00 | ((magnitude >> 13) & 0x3ff || 0x200);
  if (magnitude >= INFINITE) return sign | 0x7c00;
  if (magnitude >= MIN_NORMAL) return sign | ((magnitude - 0x3800_0000 + 0xfff + ((magnitude >> 13) & 1)) >> 13);
  word[0] = magnitude;
  return sign | f32ToF16Bits(float[0]!);
}

/** Rounded to nearest even; NaN with the bits of it for which there is room. */
function toBf16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return sign | 0x7f80 | ((magnitude >> 16) & 0x7f || 0x40);
  return sign | ((magnitude + 0x7fff + ((magnitude >> 16) & 1)) >>> 16);
}
