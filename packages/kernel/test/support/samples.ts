import { floatOf } from './float-arithmetic.ts';

/** NaN, infinities, zeros, limits, and where formulas change over. */
export const SPECIAL: readonly number[] = [
  ...[
    NaN,
    Infinity,
    0,
    1,
    2,
    3,
    0.5,
    1.5,
    2.5,
    2 ** -149,
    1e-40,
    2 ** -126,
    2 ** -125,
    1.000002 * 2 ** -125,
    1e-30,
    2.1e-8,
    1e-4,
    0.03,
  ],
  ...[0.24, 0.3465, 0.3467, 0.4142135, 0.4142137, 0.2928932, 0.2928934, 0.66, 0.7, 0.70710677, 0.7071068, 0.785398],
  ...[0.9999999, 1.0000001, 1.00001, 4, 5.5, 8.1, 9.02, 9.9, 10.05, 13.1, 13.2, 14.9, 15, 16.7, 31.9, 32, 63.9, 64.1],
  ...[86, 87.3, 87.34, 88, 88.7228, 88.7229, 88.73, 89, 103.9, 103.98, 104, 126, 127, 128, 149.5, 200, 1000, 6434],
  ...[
    1_048_575.9,
    8_388_607.5,
    8_388_609,
    16_777_216,
    2_147_483_520,
    2 ** 31,
    4_294_967_040,
    2 ** 32,
    1e20,
    3.4028234e38,
  ],
]
  .flatMap((x) => [x, -x])
  .map(Math.fround);

/** Numbers of a sequence without period here: place `i` in [0, 1). */
export function fraction(i: number): number {
  return (Math.imul(i + 1, 0x9e3779b1) >>> 0) / 2 ** 32;
}

/** Random bit patterns: every exponent, NaNs among them. */
export function anyFloats(count: number, seed = 0): number[] {
  return Array.from({ length: count }, (_, i) => floatOf(Math.imul(i + seed, 0x9e3779b1) ^ Math.imul(i, 0x85ebca6b)));
}

/** Magnitudes from 2^-13 to `limit`, where functions bend, evenly and by exponent. */
export function moderateFloats(count: number, limit: number): number[] {
  return Array.from({ length: count }, (_, i) => {
    const place = fraction(i) * 2 - 1;
    return Math.fround(i % 2 === 0 ? place * limit : place * 2 ** ((i % 41) / 2 - 13));
  });
}
