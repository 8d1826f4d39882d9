import { type FunctionBuilder, type ScalarType, StorageClass, type Value } from '../../src/index.ts';
import { bits, type Feature, feature, zeros } from './feature.ts';

/** A pointer to narrower or other numbers at the same place. */
function cast(k: FunctionBuilder, data: Value, type: ScalarType): Value {
  return k.bitcast(data, k.types.pointer(StorageClass.CrossWorkgroup, type));
}

/** Reads every narrow number of the first word both ways, then writes them back in reverse. */
function narrow(width: 8 | 16, word: number, asUnsigned: readonly number[], reversed: number): Feature {
  const count = 32 / width;
  const asSigned = asUnsigned.map((number) => ((number << (32 - width)) >> (32 - width)) >>> 0);
  return feature(
    `integers of ${width} bits in memory`,
    [word, ...zeros(2 * count)],
    [reversed, ...asUnsigned, ...asSigned],
    (k, data) => {
      const [type, u32] = [k.types.int(width), k.types.int(32)];
      const elements = cast(k, data, type);
      const loaded = asUnsigned.map((_, index) => k.load(k.at(elements, index)));
      loaded.forEach((value, index) => {
        k.store(k.at(data, 1 + index), k.uconvert(value, u32));
        k.store(k.at(data, 1 + count + index), k.sconvert(value, u32));
      });
      // From 32 bits, of which the others are cut off.
      loaded.forEach((value, index) => {
        const wide = k.or(k.uconvert(value, u32), 0x5a5a_0000);
        k.store(k.at(elements, count - 1 - index), k.uconvert(wide, type));
      });
    },
  );
}

/** Conversions between numbers, in registers and to and from memory. */
export const CONVERSIONS: readonly Feature[] = [
  narrow(8, 0x80ff_7f01, [0x01, 0x7f, 0xff, 0x80], 0x017f_ff80),
  narrow(16, 0x8000_7fff, [0x7fff, 0x8000], 0x7fff_8000),
  feature(
    'vectors of 8-bit integers in memory',
    [0x80ff_7f01, 0, 0, 0, 0],
    [0x81ff_8002, 1, 127, 0xffff_ffff, 0xffff_ff80],
    (k, data) => {
      const bytes = cast(k, data, k.types.int(8));
      const wide = k.sconvert(k.loadVector(bytes, 4), k.types.vector(k.types.int(32), 4));
      k.storeVector(k.at(data, 1), wide);
      const more = k.add(wide, k.vector(k.types.vector(k.types.int(32), 4), 1, 1, 0, 1));
      k.storeVector(bytes, k.uconvert(more, k.types.vector(k.types.int(8), 4)));
    },
  ),
  feature(
    'floats to integers, towards zero',
    bits(1.9, -1.9, 4294967040, -2147483648),
    [1, 0xffff_ffff, 0xffff_ff00, 0x8000_0000],
    (k, data) => {
      const u32 = k.types.int(32);
      const p = cast(k, data, k.types.float(32));
      (['ftou', 'ftos', 'ftou', 'ftos'] as const).forEach((op, index) => {
        k.store(k.at(data, index), k[op](k.load(k.at(p, index)), u32));
      });
    },
  ),
  feature(
    'integers to the nearest floats, ties to even',
    [0xffff_ffff, 0xffff_ffff, 16_777_217, 16_777_219, 0x8000_0000],
    bits(4294967296, -1, 16_777_216, 16_777_220, -2147483648),
    (k, data) => {
      const f32 = k.types.float(32);
      const p = cast(k, data, f32);
      (['utof', 'stof', 'utof', 'stof', 'stof'] as const).forEach((op, index) => {
        k.store(k.at(p, index), k[op](k.load(k.at(data, index)), f32));
      });
    },
  ),
  feature('the same bits as another type, in vectors', bits(1, -2), [0x3f80_0001, 0xc000_0001], (k, data) => {
    const type = k.types.vector(k.types.int(32), 2);
    const floats = k.loadVector(cast(k, data, k.types.float(32)), 2);
    k.storeVector(data, k.add(k.bitcast(floats, type), 1));
  }),
  feature(
    'halves in memory as values: to 32 bits and back, ties to even',
    [0x7c00_0001, ...bits(1 + 2 ** -11, 1 + 3 * 2 ** -11, 65_520, 2 ** -24)],
    [0x3c02_3c00, 0x0001_7c00, ...bits(2 ** -24, Infinity, 2 ** -24)],
    (k, data) => {
      const [f16, f32] = [k.types.float(16), k.types.float(32)];
      const [halves, floats] = [cast(k, data, f16), cast(k, data, f32)];
      const wide = [0, 1].map((index) => k.fconvert(k.load(k.at(halves, index)), f32));
      const narrowed = [1, 2, 3, 4].map((index) => k.fconvert(k.load(k.at(floats, index)), f16));
      narrowed.forEach((value, index) => k.store(k.at(halves, index), value));
      wide.forEach((value, index) => k.store(k.at(floats, 2 + index), value));
    },
    { environment: 'spv1.2' },
  ),
];
