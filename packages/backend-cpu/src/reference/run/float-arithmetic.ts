import { contains, hullOf, type Interval, isEmpty, isPoint, NOT_A_NUMBER, point } from './interval.ts';
import { isFloat32, widenedByUlps } from './float32.ts';

/** Sums, differences and products are rounded to nearest, or truncated. */
const ARITHMETIC_ULPS = 1;
/** The error that Vulkan and WGSL grant a division, and half a unit as the quotient is not rounded here. */
const DIVISION_ULPS = 3.5;
/** A root and a division of 2 ulp each, or an approximation improved once. */
const RSQRT_ULPS = 4.5;

/** `a + b` of numbers; exact where the sum is a float32. */
export function add(a: Interval, b: Interval): Interval {
  if (isPoint(a) && isPoint(b) && isExactSum(a.lo, b.lo)) return point(a.lo + b.lo);
  const nan = (a.hi === Infinity && b.lo === -Infinity) || (a.lo === -Infinity && b.hi === Infinity);
  // Infinity - Infinity is NaN: the end is then that of the other numbers, which are all infinite, or there is none.
  const lo = numberOr(a.lo + b.lo, Infinity);
  const hi = numberOr(a.hi + b.hi, -Infinity);
  return widenedByUlps({ lo, hi, nan }, ARITHMETIC_ULPS);
}

function numberOr(x: number, otherwise: number): number {
  return Number.isNaN(x) ? otherwise : x;
}

/** Returns whether a + b is a float32. The rounding error of float64 is found with Knuth's two-sum. */
function isExactSum(a: number, b: number): boolean {
  const sum = a + b;
  if (!Number.isFinite(sum)) return true;
  const rounded = sum - a;
  return isFloat32(sum) && a - (sum - rounded) + (b - rounded) === 0;
}

/** `-x` of numbers. */
export function neg({ lo, hi }: Interval): Interval {
  return { lo: -hi, hi: -lo, nan: false };
}

/** `|x|` of numbers. */
export function abs(x: Interval): Interval {
  const ends = [Math.abs(x.lo), Math.abs(x.hi)];
  return hullOf(contains(x, 0) ? [0, ...ends] : ends, false);
}

/** `a b` of numbers; exact where the product is a float32. */
export function mul(a: Interval, b: Interval): Interval {
  const nan = (contains(a, 0) && isUnbounded(b)) || (contains(b, 0) && isUnbounded(a));
  const products = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
  // 0 * Infinity is NaN, but 0 times the finite numbers beside it is 0.
  if (nan && !(isPoint(a) && isUnbounded(a)) && !(isPoint(b) && isUnbounded(b))) products.push(0);
  return rounded(hullOf(products, nan));
}

/** `x x` of numbers: its two operands are the same number. */
export function square(x: Interval): Interval {
  const { lo, hi } = abs(x);
  return rounded({ lo: lo * lo, hi: hi * hi, nan: false });
}

/** Products of two float32 are exact in float64: rounding to float32 shows whether they are one. */
function rounded(product: Interval): Interval {
  return isPoint(product) && isFloat32(product.lo) ? product : widenedByUlps(product, ARITHMETIC_ULPS);
}

function isUnbounded({ lo, hi }: Interval): boolean {
  return lo === -Infinity || hi === Infinity;
}

/** `a / b` of numbers. */
export function div(a: Interval, b: Interval): Interval {
  const nan = (contains(a, 0) && contains(b, 0)) || (isUnbounded(a) && isUnbounded(b));
  if (contains(b, 0) && !isSignedZero(b)) return divByZero(a, b, nan);
  const quotients = [a.lo / b.lo, a.lo / b.hi, a.hi / b.lo, a.hi / b.hi];
  // Infinity / Infinity is NaN, but finite numbers beside it give 0.
  if (isUnbounded(b) && !(isPoint(a) && isUnbounded(a))) quotients.push(0);
  return widenedByUlps(hullOf(quotients, nan), DIVISION_ULPS);
}

/** Divides by numbers among which is 0, whose sign is not known. */
function divByZero(a: Interval, b: Interval, nan: boolean): Interval {
  if (a.lo !== 0 || a.hi !== 0) return { lo: -Infinity, hi: Infinity, nan };
  return isPoint(b) ? NOT_A_NUMBER : { lo: 0, hi: 0, nan };
}

/** Returns whether it is a zero that was read, so that its sign is known. */
function isSignedZero({ lo, hi, copy }: Interval): boolean {
  return lo === 0 && hi === 0 && copy !== undefined;
}

/** `1 / sqrt(x)` of numbers. */
export function rsqrt(x: Interval): Interval {
  if (x.hi < 0) return NOT_A_NUMBER;
  if (contains(x, 0) && !isSignedZero(x)) return { lo: -Infinity, hi: Infinity, nan: x.lo < 0 };
  return widenedByUlps({ lo: reciprocalRoot(x.hi), hi: reciprocalRoot(x.lo), nan: false }, RSQRT_ULPS);
}

function reciprocalRoot(x: number): number {
  return 1 / Math.sqrt(x);
}

/** The lesser of two numbers. */
export function min(a: Interval, b: Interval): Interval {
  return { lo: Math.min(a.lo, b.lo), hi: Math.min(a.hi, b.hi), nan: false };
}

/** The greater of two numbers. */
export function max(a: Interval, b: Interval): Interval {
  return { lo: Math.max(a.lo, b.lo), hi: Math.max(a.hi, b.hi), nan: false };
}

/** The result of an operation on numbers for operands that may be NaN: NaN passes through. */
export function withNan(of: (a: Interval, b: Interval) => Interval, operands: readonly Interval[]): Interval {
  const [a, b = a] = operands as [Interval, Interval?];
  if (isEmpty(a) || isEmpty(b)) return NOT_A_NUMBER;
  if (!a.nan && !b.nan) return of(a, b);
  return { ...of(numbersOf(a), numbersOf(b)), nan: true };
}

function numbersOf({ lo, hi }: Interval): Interval {
  return { lo, hi, nan: false };
}
