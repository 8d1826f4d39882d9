import type { DType } from '@concord/backend-core';
import { cast, empty, greater, transpose } from '../../src/index.ts';
import { tensor } from '../support/laid-out.ts';
import { casesOf, type OpCases } from '../support/op-case.ts';

const FLOATS = [-Infinity, -300.7, -1.5, -0.5, 0.99, 2.5, 255.5, 3e9, 1e20, Infinity, NaN];
const LIMITS: Partial<Record<DType, readonly [number, number]>> = {
  i32: [-(2 ** 31), 2 ** 31 - 1],
  u32: [0, 2 ** 32 - 1],
  i8: [-128, 127],
  u8: [0, 255],
};
const saturated = (x: number, dtype: DType): number => {
  const [low, high] = LIMITS[dtype] as readonly [number, number];
  return Number.isNaN(x) ? 0 : Math.trunc(Math.min(high, Math.max(low, x)));
};

/** From every type to every type: rounding, truncation, saturation, bits. */
export const castCases: OpCases = {
  ...casesOf(
    (['i32', 'u32', 'i8', 'u8'] as const).map((dtype) => ({
      [`f32 to ${dtype} truncates and saturates`]: {
        run: (backend) => cast(tensor(backend, FLOATS), dtype),
        want: FLOATS.map((x) => saturated(x, dtype)),
      },
    })),
  ),
  // 1 + 2^-11 lies between two f16, 1 + 2^-8 between two bf16: ties to even. 65520 is the smallest that f16 has no room for.
  'f32 to f16 and bf16 rounds to nearest even, and back is exact': {
    run: (backend) => {
      const x = tensor(backend, [1 + 2 ** -11, 1 + 3 * 2 ** -11, 65519, 65520, 2 ** -24, NaN]);
      const y = tensor(backend, [1 + 2 ** -8, 1 + 3 * 2 ** -8, -Infinity, 1e38]);
      return [cast(cast(x, 'f16'), 'f32'), cast(y, 'bf16'), cast(cast(y, 'bf16'), 'f16')];
    },
    want: [
      [1, 1 + 2 ** -9, 65504, Infinity, 2 ** -24, NaN],
      [1, 1 + 2 ** -6, -Infinity, 150 * 2 ** 119],
      [1, 1 + 2 ** -6, -Infinity, Infinity],
    ],
    tolerance: 0,
  },
  'integers to floats, to nearest even': {
    run: (backend) => [
      cast(tensor(backend, new Int32Array([-(2 ** 31), 2 ** 24 + 1, 7])), 'f32'),
      cast(tensor(backend, new Uint32Array([2 ** 32 - 1, 2 ** 24 + 3])), 'f32'),
      cast(greater(tensor(backend, [1, -1]), 0), 'f16'),
    ],
    want: [
      [-(2 ** 31), 2 ** 24, 7],
      [2 ** 32, 2 ** 24 + 4],
      [1, 0],
    ],
    tolerance: 0,
  },
  'integers to integers: by bits, saturated where they become narrow': {
    run: (backend) => {
      const i32 = tensor(backend, new Int32Array([-1, -129, 128, 300]));
      const u32 = tensor(backend, new Uint32Array([2 ** 32 - 1, 128, 5]));
      const i8 = tensor(backend, new Int8Array([-1, 127]));
      const u8 = tensor(backend, new Uint8Array([200, 3]));
      return [
        cast(i32, 'u32'),
        cast(i32, 'u8'),
        cast(i32, 'i8'),
        cast(u32, 'i32'),
        cast(u32, 'i8'),
        cast(u32, 'u8'),
        cast(i8, 'u32'),
        cast(i8, 'u8'),
        cast(i8, 'i32'),
        cast(u8, 'i8'),
        cast(u8, 'i32'),
      ];
    },
    want: [
      [2 ** 32 - 1, 2 ** 32 - 129, 128, 300],
      [0, 0, 128, 255],
      [-1, -128, 127, 127],
      [-1, 128, 5],
      [127, 127, 5],
      [255, 128, 5],
      [2 ** 32 - 1, 127],
      [0, 127],
      [-1, 127],
      [127, 3],
      [200, 3],
    ],
  },
  'of a transposed view, into out; of its own type a view': {
    run: (backend) => {
      const x = tensor(backend, [1.5, 2.5, -3.5, 4.5], [2, 2]);
      return [cast(transpose(x), 'i32', { out: empty(backend, [2, 2], { dtype: 'i32' }) }), cast(transpose(x), 'f32')];
    },
    want: [
      [1, -3, 2, 4],
      [1.5, -3.5, 2.5, 4.5],
    ],
    shape: [2, 2],
  },
};
