import type { DType } from '@concord/backend-core';
import { floatBits } from '../../../src/run/placement.ts';
import { RIGHT } from '../../naive/parts.ts';
import type { Mutant } from '../mutant.ts';
import { type Bug, partMutants } from './naive-mutant.ts';

const encoding =
  (dtype: DType, encode: (value: number) => number): Bug =>
  () => ({ encode: (own, value) => (own === dtype ? encode(value) : RIGHT.encode(own, value)), keepsBits: false });
const decoding =
  (dtype: DType, decode: (bits: number) => number): Bug =>
  () => ({ decode: (own, bits) => (own === dtype ? decode(bits) : RIGHT.decode(own, bits)), keepsBits: false });
const right = (dtype: DType, value: number): number => RIGHT.encode(dtype, value);

const BUGS: Readonly<Record<string, Bug>> = {
  'a store of 2 bytes clears the other half of its word': () => ({
    write: (view, layout, distance, bits) => {
      const isHalf = layout.dtype === 'f16' || layout.dtype === 'bf16';
      const at = (view.byteOffset + 2 * distance) % 4;
      RIGHT.write(view, layout, distance, bits);
      if (isHalf && at === 0 && 2 * distance + 4 <= view.byteLength) view.setUint16(2 * distance + 2, 0);
    },
  }),
  'a store of 1 byte clears the rest of its word': () => ({
    write: (view, layout, distance, bits) => {
      RIGHT.write(view, layout, distance, bits);
      const isByte = layout.dtype === 'i8' || layout.dtype === 'u8';
      for (let at = distance + 1; isByte && (view.byteOffset + at) % 4 !== 0 && at < view.byteLength; at++)
        view.setUint8(at, 0);
    },
  }),
  'the last half word of an odd number of halves not stored': () => ({
    write: (view, layout, distance, bits) => {
      const isLast = layout.dtype === 'f16' && distance === layout.extent - 1 && distance % 2 === 0;
      if (!isLast) RIGHT.write(view, layout, distance, bits);
    },
  }),
  'i8 wraps': encoding('i8', (value) => value & 0xff),
  'u8 wraps': encoding('u8', (value) => value & 0xff),
  'i8 saturates at -127': encoding('i8', (value) => right('i8', Math.max(value, -127))),
  'bf16 truncates': encoding('bf16', (value) => (Number.isNaN(value) ? 0x7fc0 : floatBits(value) >>> 16)),
  'bf16 rounds ties up': encoding('bf16', (value) =>
    Number.isNaN(value) ? 0x7fc0 : ((floatBits(value) + 0x8000) >>> 16) & 0xffff,
  ),
  'bf16 rounds NaN like a number': encoding('bf16', (value) => {
    const bits = Number.isNaN(value) ? 0x7fffffff : floatBits(value);
    return ((bits + 0x7fff + ((bits >>> 16) & 1)) >>> 16) & 0xffff;
  }),
  'f16 rounds towards zero': encoding('f16', (value) => {
    const bits = right('f16', value);
    return Math.abs(RIGHT.decode('f16', bits)) > Math.abs(value) ? bits - 1 : bits;
  }),
  'f16 subnormals flushed': encoding('f16', (value) => right('f16', Math.abs(value) < 2 ** -14 ? 0 : value)),
  'f16 saturates': encoding('f16', (value) => right('f16', Math.min(Math.max(value, -65_504), 65_504))),
  'f16 subnormals read as 0': decoding('f16', (bits) => ((bits & 0x7c00) === 0 ? 0 : RIGHT.decode('f16', bits))),
  'f16 infinity read as 65,536': decoding('f16', (bits) =>
    (bits & 0x7fff) === 0x7c00 ? 65_536 : RIGHT.decode('f16', bits),
  ),
  'i8 read without its sign': decoding('i8', (bits) => bits & 0xff),
  'u8 read with a sign': decoding('u8', (bits) => ((bits << 24) >> 24) >>> 0),
  'what is copied loses the bits of NaN': () => ({ keepsBits: false }),
};

/** Bugs of element types in memory. */
export const runStorageMutants: readonly Mutant[] = partMutants(BUGS, /^run\/kernel\//);
