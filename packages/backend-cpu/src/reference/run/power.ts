import { widenedByUlps } from './float32.ts';
import { powC99 } from './functions.ts';
import { contains, hullOf, type Interval, isEmpty, isPoint } from './interval.ts';

/** The |log2 of the result| beyond which pow is 0 or infinite in float32. */
const MAX_DOUBLINGS = 160;
const HALF_ULP = 0.5;

/** `x^y` as C99 Annex F has it, of operands that may be NaN: 1 where x is 1 or y is 0, whatever the other one is. */
export function pow(x: Interval, y: Interval): Interval {
  const image = isEmpty(x) || isEmpty(y) ? { values: [], nan: false } : powers(x, y);
  const values = [...image.values];
  if ((x.nan && contains(y, 0)) || (y.nan && contains(x, 1))) values.push(1);
  const isOne = (isPoint(x) && x.lo === 1) || (isPoint(y) && y.lo === 0);
  const nan = image.nan || ((x.nan || y.nan) && !isOne);
  return widenedByUlps(hullOf(values, nan), powUlps(x, y) + HALF_ULP);
}

/** Numbers whose hull has every power, and whether NaN is among them. */
interface Powers {
  readonly values: readonly number[];
  readonly nan: boolean;
}

function powers(x: Interval, y: Interval): Powers {
  const values: number[] = [];
  let nan = false;
  // In each quarter of x > 0 around x = 1, y = 0 powers rise or fall in x and in y: the corners have their extremes.
  if (x.hi > 0) values.push(...corners(Math.max(x.lo, 0), x.hi, y));
  if (contains(x, 0)) values.push(...powersOfZero(x, y));
  if (x.lo < 0) {
    const negative = powersOfNegative(x.lo, Math.min(x.hi, -0), y);
    values.push(...negative.values);
    nan = negative.nan;
  }
  return { values, nan };
}

function corners(lo: number, hi: number, y: Interval): number[] {
  const values = [powC99(lo, y.lo), powC99(lo, y.hi), powC99(hi, y.lo), powC99(hi, y.hi)];
  return lo <= 1 && hi >= 1 ? [...values, 1] : values;
}

/** Zero of the sign that it has, or of both where that is not known. */
function powersOfZero(x: Interval, y: Interval): number[] {
  const zeros = x.copy !== undefined ? [x.lo] : [0, -0];
  const values = zeros.flatMap((zero) => [powC99(zero, y.lo), powC99(zero, y.hi)]);
  // An exponent among many may be an odd integer below 0.
  if (y.lo < 0 && !isPoint(y) && !zeros.every((zero) => Object.is(zero, 0))) values.push(-Infinity);
  return contains(y, 0) ? [...values, 1] : values;
}

/** Returns the powers of x from `lo` to `hi`, both negative or -0. */
function powersOfNegative(lo: number, hi: number, y: Interval): Powers {
  if (isPoint(y)) {
    const isReal = Number.isInteger(y.lo) || Math.abs(y.lo) === Infinity;
    return { values: [powC99(lo, y.lo), powC99(hi, y.lo)], nan: !isReal && (lo !== -Infinity || hi !== -Infinity) };
  }
  const magnitudes = corners(-hi, -lo, y);
  return { values: magnitudes.flatMap((value) => [value, -value]), nan: true };
}

/** `16 + 5|y log2|x|| + 3|y|`, at its maximum; operands without rounding in their result have 16. */
function powUlps(x: Interval, y: Interval): number {
  if (isEmpty(x) || isEmpty(y)) return 16;
  const products = [x.lo, x.hi].flatMap((base) => [y.lo, y.hi].map((exponent) => doublings(base, exponent)));
  const largest = Math.max(...products);
  if (x.lo === x.hi && y.lo === y.hi && !Number.isFinite(largest)) return 16;
  const bent = contains(x, 0) ? MAX_DOUBLINGS : Math.min(largest, MAX_DOUBLINGS);
  return 16 + 5 * bent + 3 * Math.max(Math.abs(y.lo), Math.abs(y.hi));
}

function doublings(base: number, exponent: number): number {
  const product = Math.abs(exponent * Math.log2(Math.abs(base)));
  return Number.isNaN(product) ? Infinity : product;
}
