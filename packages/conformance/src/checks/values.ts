import type { Random } from '../harness/random.ts';

/** Values at which functions go wrong: NaN, infinities, zeros, limits, where formulas cancel or change over. */
export const SPECIAL_VALUES: readonly number[] = [
  ...[Number.NaN, Infinity, -Infinity, 0, -0, 1, -1, 2, -2, 0.5, -0.5, 3, -3],
  ...[2 ** -126, 1e-30, 2.1e-8, 1e-4, 0.03, 0.24, 0.66, 1.00001, 4, 5.5, 8.1, 9.02, 13.2, 16.7, 88, 88.73, 89]
    .concat([103.9, 104, 200, 1000, 8_388_609, 16_777_216, 2_147_483_647, 4_294_967_295, 1e20, 3.4028234e38])
    .flatMap((x) => [x, -x]),
].map(Math.fround);

/** Float32 values below the smallest normal one. */
export const SUBNORMALS: readonly number[] = [2 ** -149, 2 ** -140, 2 ** -127, 2 ** -126 - 2 ** -149].flatMap((x) => [
  x,
  -x,
]);

/** Exponents spread over all of float32, mantissas random. */
export function drawAnyMagnitude(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-125, 126));
}

/** Magnitudes where functions bend. */
export function drawModerate(random: Random): number {
  return Math.fround(random.wideFloat(0) * 2 ** random.integer(-12, 6));
}
