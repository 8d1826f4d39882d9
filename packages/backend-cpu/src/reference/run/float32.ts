import type { Interval } from './interval.ts';
import { exponentOf } from './stored-values.ts';

/** Twice the unit roundoff of float32, so that a device that truncates passes too. */
export const U: number = 2 ** -23;
/** Smallest normal float32. */
export const MIN_NORMAL: number = 2 ** -126;
/** Largest finite float32. */
export const MAX_F32: number = (2 - 2 ** -23) * 2 ** 127;
/** The value from which on everything rounds to infinity. */
const OVERFLOW = 2 ** 128 - 2 ** 103;
/** The relative error of the oracle's own float64 arithmetic. */
const OWN_ERROR = 2 ** -48;

/** `n u / (1 - n u)`: the relative error of n roundings. */
export function gamma(n: number): number {
  return n * U < 1 ? (n * U) / (1 - n * U) : Infinity;
}

/** Spacing of float32 at x, as if exponents had no upper end; subnormals have that of the smallest normal number. */
export function ulpF32(x: number): number {
  if (x === 0 || !Number.isFinite(x)) return 2 ** -149;
  return 2 ** (Math.max(exponentOf(x), -126) - 23);
}

/** Returns whether a number is a float32. */
export function isFloat32(x: number): boolean {
  return Math.fround(x) === x;
}

/**
 * The interval that a function's error of `ulps` units in the last place makes of its image. Such an error changes no
 * sign, and 0 and the infinities have none. What reaches beyond the range is infinite.
 */
export function widenedByUlps({ lo, hi, nan }: Interval, ulps: number): Interval {
  return overflowing({ lo: -reachOf(-hi, -lo, ulps), hi: reachOf(lo, hi, ulps), nan });
}

/** The greatest `x + error(x)` with x from `lo` to `hi`. */
function reachOf(lo: number, hi: number, ulps: number): number {
  if (lo > hi || hi === 0 || !Number.isFinite(hi)) return hi;
  if (hi > 0) return hi + errorOf(hi, ulps);
  // Towards 0 negative numbers rise, but their units shrink at each power of two: the last one before hi may reach higher.
  const power = -(2 ** (exponentOf(hi) + 1));
  const atHi = hi + errorOf(hi, ulps);
  // Beyond float64 there is none.
  const isReached = power >= lo && power > -Infinity;
  return Math.min(0, isReached ? Math.max(atHi, power + errorOf(power, ulps)) : atHi);
}

function errorOf(x: number, ulps: number): number {
  return ulps * ulpF32(x) + OWN_ERROR * Math.abs(x);
}

/** The interval of an image whose error is absolute, `below` its lower end and `above` its upper end. */
export function widenedBy({ lo, hi, nan }: Interval, below: number, above: number = below): Interval {
  return overflowing({ lo: lo - below - OWN_ERROR * Math.abs(lo), hi: hi + above + OWN_ERROR * Math.abs(hi), nan });
}

/** An interval of exact numbers: from half a step beyond the largest float32 on they are infinite. */
export function overflowing({ lo, hi, nan }: Interval): Interval {
  return { lo: lo <= -OVERFLOW ? -Infinity : lo, hi: hi >= OVERFLOW ? Infinity : hi, nan };
}

/**
 * An interval as float32 numbers: beyond the range there is but infinity. An interval may begin beyond it, as a product
 * that is contracted with the sum after it need not be in range.
 */
export function inFloat32(x: Interval): Interval {
  if (x.lo <= MAX_F32 && x.hi >= -MAX_F32) return x;
  return { ...x, lo: x.lo > MAX_F32 ? Infinity : x.lo, hi: x.hi < -MAX_F32 ? -Infinity : x.hi };
}

/** An interval on a device that may flush subnormals: joined with 0 where it meets them. */
export function flushed(x: Interval): Interval {
  if (x.lo >= MIN_NORMAL || x.hi <= -MIN_NORMAL || x.lo > x.hi || (x.lo <= 0 && x.hi >= 0)) return x;
  return { lo: Math.min(x.lo, 0), hi: Math.max(x.hi, 0), nan: x.nan };
}
