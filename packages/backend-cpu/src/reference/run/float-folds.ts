import { gamma, isFloat32, MIN_NORMAL, overflowing, widenedBy } from './float32.ts';
import { ANY_FLOAT, contains, type Interval, isEmpty, NOT_A_NUMBER, point } from './interval.ts';
import { exponentOf } from './stored-values.ts';

/** From here on the order of a sum may decide whether it overflows. */
const LARGEST_SUM = 2 ** 127;
/** From here on the order of a product may decide whether it overflows or underflows. */
const MAX_DOUBLINGS = 126;
/** A sum of up to this many units has no rounding. */
const EXACT_UNITS = 2 ** 24;
/** A lane may add this many elements one after the other; the partial sums then meet in a tree. */
const LONGEST_CHAIN = 1024;
/** Scaling, dividing and storing a mean. */
const ROUNDINGS_OF_MEAN = 3;
const OWN_ROUNDOFF = 2 ** -52;

/** The facts about its terms that a sum needs. */
interface Terms {
  readonly lo: number;
  readonly hi: number;
  /** Sum of the greatest absolute values, infinite terms left out. */
  readonly magnitude: number;
  /** True if infinity is among the terms for certain, by sign. */
  readonly hasInfinity: { readonly positive: boolean; readonly negative: boolean };
  readonly nonNegative: boolean;
  readonly nonPositive: boolean;
  /** True if any order of adding rounds nothing. */
  readonly isExact: boolean;
  readonly nan: boolean;
}

/**
 * Sum, or mean, in any order that keeps chains short, or at least to that depth. An infinite term, or NaN, decides; an empty mean
 * is NaN.
 */
export function sumOf(terms: readonly Interval[], isMean: boolean, depth: number = depthOf(terms.length)): Interval {
  const count = terms.length;
  if (count === 0) return isMean ? NOT_A_NUMBER : point(0);
  const known = summed(terms);
  if (known === undefined || (known.hasInfinity.positive && known.hasInfinity.negative)) return NOT_A_NUMBER;
  const { nan, hasInfinity, nonNegative, nonPositive } = known;
  const isOneSigned = nonNegative || nonPositive;
  const scale = isMean ? count : 1;
  const magnitude = known.magnitude / scale;
  // Terms of one sign can only overflow to where their sum goes too.
  if (!isOneSigned && magnitude >= LARGEST_SUM) return ANY_FLOAT;
  if (hasInfinity.positive || hasInfinity.negative) {
    const infinite = hasInfinity.positive ? Infinity : -Infinity;
    return { lo: infinite, hi: infinite, nan };
  }
  const lo = known.lo / scale;
  const hi = known.hi / scale;
  if (known.isExact && (!isMean || magnitude === 0)) return overflowing({ lo, hi, nan });
  const relative = gamma(depth + (isMean ? ROUNDINGS_OF_MEAN : 0)) + count * OWN_ROUNDOFF;
  const underflow = (count + 2) * MIN_NORMAL;
  const errorAt = (end: number): number => relative * (isOneSigned ? Math.abs(end) : magnitude) + underflow;
  const sum = widenedBy({ lo, hi, nan }, errorAt(lo), errorAt(hi));
  return { lo: nonNegative ? Math.max(sum.lo, 0) : sum.lo, hi: nonPositive ? Math.min(sum.hi, 0) : sum.hi, nan };
}

/** The longest chain of additions that one of n terms may go through. */
function depthOf(count: number): number {
  return Math.min(count, LONGEST_CHAIN + 2 * Math.ceil(Math.log2(count)));
}

/** undefined where one of the terms is NaN for certain. */
function summed(terms: readonly Interval[]): Terms | undefined {
  let [lo, hi, magnitude, unit] = [0, 0, 0, Infinity];
  let [positive, negative, nonNegative, nonPositive, arePoints, nan] = [false, false, true, true, true, false];
  for (const term of terms) {
    if (isEmpty(term)) return undefined;
    nan ||= term.nan;
    nonNegative &&= term.lo >= 0;
    nonPositive &&= term.hi <= 0;
    if (term.lo === Infinity) positive = true;
    else if (term.hi === -Infinity) negative = true;
    else {
      lo += term.lo;
      hi += term.hi;
      magnitude += Math.max(Math.abs(term.lo), Math.abs(term.hi));
      arePoints &&= term.lo === term.hi && isFloat32(term.lo);
      if (arePoints && term.lo !== 0) unit = Math.min(unit, unitOf(term.lo));
    }
  }
  // Below the smallest normal number partial sums may be flushed.
  const isExact = arePoints && (magnitude === 0 || (unit >= MIN_NORMAL && magnitude <= EXACT_UNITS * unit));
  return {
    ...{ lo, hi, magnitude, isExact, nan },
    hasInfinity: { positive, negative },
    ...{ nonNegative, nonPositive },
  };
}

/** The largest power of two that a float32 is a multiple of. */
function unitOf(x: number): number {
  const lowest = 2 ** (exponentOf(x) - 23);
  const units = Math.abs(x) / lowest;
  return lowest * (units & -units);
}

/** Product in any order. */
export function productOf(factors: readonly Interval[]): Interval {
  let [lo, hi, doublings, odd] = [1, 1, 0, 1];
  let [hasZero, hasInfinity, arePoints, nan] = [false, false, true, false];
  for (const factor of factors) {
    if (isEmpty(factor)) return NOT_A_NUMBER;
    nan ||= factor.nan;
    if (factor.lo === 0 && factor.hi === 0) hasZero = true;
    else if (contains(factor, 0)) doublings = Infinity;
    else {
      const [min, max] = [Math.abs(factor.lo), Math.abs(factor.hi)];
      const isInfinite = min === Infinity && max === Infinity;
      hasInfinity ||= isInfinite;
      // An infinity that is certain decides the result and takes part in no partial product.
      if (!isInfinite) doublings += Math.max(Math.abs(Math.log2(min)), Math.abs(Math.log2(max)));
      const ends = isInfinite ? [Math.sign(factor.lo), Math.sign(factor.lo)] : [factor.lo, factor.hi];
      [lo, hi] = productOfEnds(lo, hi, ends as [number, number]);
      arePoints &&= factor.lo === factor.hi && isFloat32(factor.lo);
      if (arePoints && !isInfinite) odd *= min / unitOf(min);
    }
  }
  if (doublings >= MAX_DOUBLINGS) return ANY_FLOAT;
  if (hasZero) return hasInfinity ? NOT_A_NUMBER : { lo: 0, hi: 0, nan };
  if (hasInfinity) return { lo: lo * Infinity, hi: hi * Infinity, nan };
  if (arePoints && odd <= EXACT_UNITS) return { lo, hi, nan };
  const relative = gamma(2 * factors.length) + factors.length * OWN_ROUNDOFF;
  return widenedBy({ lo, hi, nan }, relative * Math.abs(lo), relative * Math.abs(hi));
}

/** No operand contains 0, so that the ends are products of ends. */
function productOfEnds(lo: number, hi: number, [from, to]: readonly [number, number]): [number, number] {
  const products = [lo * from, lo * to, hi * from, hi * to];
  return [Math.min(...products), Math.max(...products)];
}
