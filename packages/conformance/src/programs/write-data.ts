import type { DType } from '@concord/backend-core';
import { ELEMENT_TYPES } from '@concord/backend-core/implement';
import { bytesOf, encodeElement, writeBits } from '../run/storage.ts';
import type { WriteStep } from './step.ts';

/** Contents of a write: any bits, whole numbers from -8 to 8, numbers in [-1, 1) or [-4, 4), indices about those that are there. */
export type WriteData = 'bits' | 'small' | 'unit' | 'moderate' | 'indices';

/** Elements after which the contents begin again: a prime, in step with no tile. */
const PERIOD = 16_381;

/** A number below 2^32 that follows from the two (the finalizer of MurmurHash3, Austin Appleby). */
function word(index: number, seed: number): number {
  const x = Math.imul((index % PERIOD) + 1, 0x9e3779b1) ^ seed;
  const y = Math.imul(x ^ (x >>> 15), 0x85ebca6b);
  return (y ^ (y >>> 13)) >>> 0;
}

const VALUES: Readonly<Record<WriteData, (word: number) => number>> = {
  bits: (w) => w,
  small: (w) => (w % 17) - 8,
  unit: (w) => w / 2 ** 31 - 1,
  moderate: (w) => w / 2 ** 29 - 4,
  indices: (w) => (w % 16) - 3,
};

/** The same as JavaScript, of a number `w`. */
const VALUE_TEXTS: Readonly<Record<WriteData, string>> = {
  bits: 'w',
  small: '(w % 17) - 8',
  unit: 'w / 2 ** 31 - 1',
  moderate: 'w / 2 ** 29 - 4',
  indices: '(w % 16) - 3',
};

/** {@link word} as JavaScript. */
export const WORD_TEXT: string = [
  'function word(index, seed) {',
  `  const x = Math.imul((index % ${PERIOD}) + 1, 0x9e3779b1) ^ seed;`,
  '  const y = Math.imul(x ^ (x >>> 15), 0x85ebca6b);',
  '  return (y ^ (y >>> 13)) >>> 0;',
  '}',
].join('\n');

const bitsOf = (dtype: DType, data: WriteData, index: number, seed: number): number => {
  const w = word(index, seed);
  if (data === 'bits') return w % 2 ** (8 * bytesOf(dtype));
  const value = VALUES[data](w);
  return encodeElement(dtype, ELEMENT_TYPES[dtype].value === 'u32' ? Math.max(0, value) : value);
};

/** The bytes of a write. */
export function writtenBytes({ bytes: length, dtype, data, seed }: WriteStep): Uint8Array {
  const size = bytesOf(dtype);
  const period = Math.min(Math.ceil(length / size), PERIOD) * size;
  const first = new DataView(new ArrayBuffer(period));
  for (let at = 0; at < period; at += size) writeBits(first, dtype, at, bitsOf(dtype, data, at / size, seed));
  const pattern = new Uint8Array(first.buffer);
  const bytes = new Uint8Array(length);
  for (let at = 0; at < length; at += period) bytes.set(pattern.subarray(0, Math.min(period, length - at)), at);
  return bytes;
}

const WORDS = { 1: 'Uint8Array', 2: 'Uint16Array', 4: 'Uint32Array' };

/** The bytes of a write as JavaScript, for which {@link WORD_TEXT} is there. */
export function writtenText({ bytes, dtype, data, seed }: WriteStep): string {
  const size = bytesOf(dtype);
  const { value: type, Stored } = ELEMENT_TYPES[dtype];
  const isUnsigned = type === 'u32';
  const value = isUnsigned && data !== 'bits' ? `Math.max(0, ${VALUE_TEXTS[data]})` : VALUE_TEXTS[data];
  const list = `{ length: ${Math.ceil(bytes / size)} }, (_, i) => { const w = word(i, ${seed}); return ${value}; }`;
  const whole =
    data === 'bits'
      ? `${WORDS[size as 1 | 2 | 4]}.from(${list})`
      : dtype === 'f16'
        ? `toF16Array(Array.from(${list}))`
        : dtype === 'bf16'
          ? `toBf16Array(Array.from(${list}))`
          : `${Stored.name}.from(${list})`;
  return bytes % size === 0 ? whole : `new Uint8Array(${whole}.buffer, 0, ${bytes})`;
}

/** The bytes of a write behind some others in a buffer of their own, as a view that is not always of bytes. */
export function sourceOf(step: WriteStep, bytes: Uint8Array): ArrayBufferView {
  const { shift } = step;
  const buffer = new Uint8Array(shift + bytes.length);
  buffer.set(bytes, shift);
  return shift % 2 === 1 ? new DataView(buffer.buffer, shift) : buffer.subarray(shift);
}
