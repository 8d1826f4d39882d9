import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES, type ElementType } from '@concord/backend-core/implement';
import type { StoredElements } from './run-data.ts';

type FloatFormat = NonNullable<ElementType['float']>;

/** The bits of the element at an offset, without sign extension: of a Float32Array too. */
export function bitsAt(elements: StoredElements, offset: number): number {
  if (elements instanceof Float32Array) {
    return new DataView(elements.buffer).getUint32(elements.byteOffset + 4 * offset, isLittleEndian);
  }
  return elements[offset] as number;
}

const isLittleEndian = new Uint8Array(new Uint16Array([1]).buffer)[0] === 1;

/** The bits of a number rounded to float32. */
export function bitsOfFloat32(value: number): number {
  return new Uint32Array(new Float32Array([value]).buffer)[0] as number;
}

/** The value of an element by its bits; an integer is its own. */
export function valueOfBits(dtype: DType, bits: number): number {
  const { float: format } = ELEMENT_TYPES[dtype];
  if (format === undefined) return bits;
  const { exponentBits, fractionBits } = format;
  const sign = bits >>> (exponentBits + fractionBits) === 0 ? 1 : -1;
  const exponent = (bits >>> fractionBits) & (2 ** exponentBits - 1);
  const fraction = (bits & (2 ** fractionBits - 1)) / 2 ** fractionBits;
  const bias = 2 ** (exponentBits - 1) - 1;
  if (exponent === 2 ** exponentBits - 1) return fraction === 0 ? sign * Infinity : Number.NaN;
  return exponent === 0 ? sign * fraction * 2 ** (1 - bias) : sign * (1 + fraction) * 2 ** (exponent - bias);
}

/** A value as it is stored in an output: rounded to nearest, ties to even, or to the nearest integer of the dtype. */
export function storedValue(dtype: DType, value: number): number {
  const { range, float } = ELEMENT_TYPES[dtype];
  if (range !== undefined) return Math.min(Math.max(value, range[0]), range[1]);
  return dtype === 'f32' ? value : roundedTo(float as FloatFormat, value);
}

function roundedTo({ exponentBits, fractionBits }: FloatFormat, value: number): number {
  if (value === 0 || !Number.isFinite(value)) return value;
  const bias = 2 ** (exponentBits - 1) - 1;
  const exponent = Math.max(exponentOf(value), 1 - bias);
  const spacing = 2 ** (exponent - fractionBits);
  const rounded = roundTiesToEven(value / spacing) * spacing;
  return Math.abs(rounded) >= 2 ** (bias + 1) ? Math.sign(value) * Infinity : rounded;
}

/** floor(log2 |x|) of a finite x that is not 0. */
export function exponentOf(x: number): number {
  const magnitude = Math.abs(x);
  const guess = Math.floor(Math.log2(magnitude));
  if (2 ** guess > magnitude) return guess - 1;
  return 2 ** (guess + 1) <= magnitude ? guess + 1 : guess;
}

/** The nearest integer; the even one where two are. */
export function roundTiesToEven(x: number): number {
  if (!Number.isFinite(x)) return x;
  const below = Math.floor(x);
  const rest = x - below;
  if (rest !== 0.5) return rest < 0.5 ? below : below + 1;
  return below % 2 === 0 ? below : below + 1;
}
