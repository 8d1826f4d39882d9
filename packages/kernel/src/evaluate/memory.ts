import { BYTES_OF } from '@concord/backend-core/implement';
import { type DType, f16BitsToF32, f32ToF16Bits } from '@concord/backend-core';
import type { NumberType, ScatterMode } from '@concord/backend-core/kernel';
import type { View } from './view.ts';

/** Elements in memory, by their bits; i8 and u8 as numbers. */
export type Elements = Int32Array | Uint16Array | Int8Array | Uint8Array;

/** The elements of an operand that starts at a byte. */
export function elementsOf(dtype: DType, buffer: ArrayBufferLike, byteOffset: number, length: number): Elements {
  const Bits = { 1: dtype === 'i8' ? Int8Array : Uint8Array, 2: Uint16Array, 4: Int32Array }[BYTES_OF[dtype]];
  return new Bits(buffer as ArrayBuffer, byteOffset, length);
}

type Convert = (bits: number) => number;

const same: Convert = (bits) => bits;

/** The bits of one element as a kernel has it. */
export function reader(dtype: DType): Convert {
  return dtype === 'f16' ? fromF16 : dtype === 'bf16' ? (bits) => bits << 16 : same;
}

/** The bits in memory of those that a kernel has: narrow floats rounded to nearest even, bytes saturated. */
export function writer(dtype: DType): Convert {
  if (dtype === 'f16') return toF16;
  if (dtype === 'bf16') return toBf16;
  if (dtype === 'u8') return (bits) => Math.min(255, bits >>> 0);
  return dtype === 'i8' ? (bits) => Math.max(-128, Math.min(127, bits)) : same;
}

/** Copies the elements at `count` points of a view into a register, as bits. */
export function load(dtype: DType, to: Int32Array, from: Elements, view: View, first: number, count: number): void {
  const read = reader(dtype);
  view.lines(first, count, (before, value, stride, length) => {
    for (let k = 0; k < length; k++) to[before + k] = read(from[value + k * stride]!);
  });
}

/** Copies a register to the elements at `count` points of a view; the inverse of {@link load}. */
export function store(dtype: DType, bits: Int32Array, to: Elements, view: View, first: number, count: number): void {
  const write = writer(dtype);
  view.lines(first, count, (before, value, stride, length) => {
    for (let k = 0; k < length; k++) to[value + k * stride] = write(bits[before + k]!);
  });
}

/** Returns a function that combines the bits of a stored number with those of a scattered one. */
export function combiner(mode: ScatterMode, type: NumberType): (old: number, value: number) => number {
  if (mode === 'set') return (_, value) => value;
  if (type !== 'f32') {
    if (mode === 'add') return (old, value) => (old + value) | 0;
    const least = type === 'u32' ? (x: number) => x >>> 0 : same;
    return (old, value) => ((mode === 'max') === least(old) > least(value) ? old : value);
  }
  const pick = mode === 'add' ? (a: number, b: number) => a + b : mode === 'max' ? Math.max : Math.min;
  return (old, value) => {
    word[0] = old;
    const a = float[0]!;
    word[0] = value;
    float[0] = pick(a, float[0]!);
    return word[0];
  };
}

const word = new Int32Array(1);
const float = new Float32Array(word.buffer);

/** Widens an f16; the payload of a NaN is kept too. */
function fromF16(bits: number): number {
  if ((bits & 0x7fff) > 0x7c00) return ((bits & 0x8000) << 16) | 0x7f80_0000 | ((bits & 0x3ff) << 13);
  float[0] = f16BitsToF32(bits);
  return word[0]!;
}

/** NaN with the bits of it for which there is room. */
function toF16(bits: number): number {
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return ((bits >>> 16) & 0x8000) | 0x7c00 | ((magnitude >> 13) & 0x3ff || 0x200);
  word[0] = bits;
  return f32ToF16Bits(float[0]!);
}

/** NaN with the bits of it for which there is room. */
function toBf16(bits: number): number {
  const sign = (bits >>> 16) & 0x8000;
  const magnitude = bits & 0x7fff_ffff;
  if (magnitude > 0x7f80_0000) return sign | 0x7f80 | ((magnitude >> 16) & 0x7f || 0x40);
  return sign | ((magnitude + 0x7fff + ((magnitude >> 16) & 1)) >>> 16);
}
