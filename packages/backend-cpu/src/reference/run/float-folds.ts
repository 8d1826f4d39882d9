import { gamma, isFloat32, MIN_NORMAL, overflowing, widenedBy } from './float32.ts';
import { ANY_FLOAT, contains, type Interval, isEmpty, NOT_A_NUMBER, point } from './interval.ts';
import { exponentOf } from './stored-values.ts';

/** The size from which on the order of a sum may decide whether it overflows. */
const LARGEST_SUM = 2 ** 127;
/** The exponent from which on the order of a product may decide whether it overflows or underflows. */
const MAX_DOUBLINGS = 126;
/** A sum of up to this many units has no rounding. */
const EXACT_UNITS = 2 ** 24;
/** A lane may add this many elements one after the other; the partial sums then meet in a tree. */
const LONGEST_CHAIN = 1024;
/** Scaling, dividing and storing a mean. */
const ROUNDINGS_OF_MEAN = 3;
const OWN_ROUNDOFF = 2 ** -52;

/** A fold that grows by a term at a time. */
export interface Running {
  add(term: Interval): void;
  /** The fold of the terms so far. */
  value(): Interval;
}

/**
 * Sum, or mean, in any order that keeps chains short, or at least to that depth. An infinite term, or NaN, decides; an empty mean
 * is NaN.
 */
export function sumOf(terms: readonly Interval[], isMean: boolean, depth?: number): Interval {
  const sum = new RunningSum(isMean, depth);
  for (const term of terms) sum.add(term);
  return sum.value();
}

/** The sum, or mean, of the terms so far; as {@link sumOf}. */
export class RunningSum implements Running {
  readonly #isMean: boolean;
  readonly #depth: number | undefined;
  #count = 0;
  #lo = 0;
  #hi = 0;
  /** Sum of the greatest absolute values, infinite terms left out. */
  #magnitude = 0;
  /** All terms that are known numbers are multiples of it. */
  #unit = Infinity;
  #arePoints = true;
  /** True if infinity is among the terms for certain, by sign. */
  #positive = false;
  #negative = false;
  #nonNegative = true;
  #nonPositive = true;
  #nan = false;
  #isUndefined = false;

  constructor(isMean: boolean, depth?: number) {
    this.#isMean = isMean;
    this.#depth = depth;
  }

  add(term: Interval): void {
    this.#count++;
    if (isEmpty(term)) {
      this.#isUndefined = true;
      return;
    }
    this.#nan ||= term.nan;
    this.#nonNegative &&= term.lo >= 0;
    this.#nonPositive &&= term.hi <= 0;
    if (term.lo === Infinity) this.#positive = true;
    else if (term.hi === -Infinity) this.#negative = true;
    else {
      this.#lo += term.lo;
      this.#hi += term.hi;
      this.#magnitude += Math.max(Math.abs(term.lo), Math.abs(term.hi));
      this.#arePoints &&= term.lo === term.hi && isFloat32(term.lo);
      if (this.#arePoints && term.lo !== 0) this.#unit = Math.min(this.#unit, unitOf(term.lo));
    }
  }

  value(): Interval {
    const [count, nan, isMean] = [this.#count, this.#nan, this.#isMean];
    const [nonNegative, nonPositive] = [this.#nonNegative, this.#nonPositive];
    if (count === 0) return isMean ? NOT_A_NUMBER : point(0);
    if (this.#isUndefined || (this.#positive && this.#negative)) return NOT_A_NUMBER;
    const isOneSigned = nonNegative || nonPositive;
    const scale = isMean ? count : 1;
    const magnitude = this.#magnitude / scale;
    // Terms of one sign can only overflow to where their sum goes too.
    if (!isOneSigned && magnitude >= LARGEST_SUM) return ANY_FLOAT;
    if (this.#positive || this.#negative) {
      const infinite = this.#positive ? Infinity : -Infinity;
      return { lo: infinite, hi: infinite, nan };
    }
    const lo = this.#lo / scale;
    const hi = this.#hi / scale;
    if (this.#isExact && (!isMean || magnitude === 0)) return overflowing({ lo, hi, nan });
    const relative = gamma((this.#depth ?? depthOf(count)) + (isMean ? ROUNDINGS_OF_MEAN : 0)) + count * OWN_ROUNDOFF;
    const underflow = (count + 2) * MIN_NORMAL;
    const errorAt = (end: number): number => relative * (isOneSigned ? Math.abs(end) : magnitude) + underflow;
    const sum = widenedBy({ lo, hi, nan }, errorAt(lo), errorAt(hi));
    return { lo: nonNegative ? Math.max(sum.lo, 0) : sum.lo, hi: nonPositive ? Math.min(sum.hi, 0) : sum.hi, nan };
  }

  /** True if any order of adding rounds nothing. Below the smallest normal number partial sums may be flushed. */
  get #isExact(): boolean {
    const [magnitude, unit] = [this.#magnitude, this.#unit];
    return this.#arePoints && (magnitude === 0 || (unit >= MIN_NORMAL && magnitude <= EXACT_UNITS * unit));
  }
}

/** The longest chain of additions that one of n terms may go through. */
function depthOf(count: number): number {
  return Math.min(count, LONGEST_CHAIN + 2 * Math.ceil(Math.log2(count)));
}

/** The largest power of two that a float32 is a multiple of. */
function unitOf(x: number): number {
  const lowest = 2 ** (exponentOf(x) - 23);
  const units = Math.abs(x) / lowest;
  return lowest * (units & -units);
}

/** Product in any order. */
export function productOf(factors: readonly Interval[]): Interval {
  const product = new RunningProduct();
  for (const factor of factors) product.add(factor);
  return product.value();
}

/** The product of the factors so far; as {@link productOf}. */
export class RunningProduct implements Running {
  #count = 0;
  #lo = 1;
  #hi = 1;
  #doublings = 0;
  #odd = 1;
  #hasZero = false;
  #hasInfinity = false;
  #arePoints = true;
  #nan = false;
  #isUndefined = false;

  add(factor: Interval): void {
    this.#count++;
    if (isEmpty(factor)) {
      this.#isUndefined = true;
      return;
    }
    this.#nan ||= factor.nan;
    if (factor.lo === 0 && factor.hi === 0) this.#hasZero = true;
    else if (contains(factor, 0)) this.#doublings = Infinity;
    else {
      const [min, max] = [Math.abs(factor.lo), Math.abs(factor.hi)];
      const isInfinite = min === Infinity && max === Infinity;
      this.#hasInfinity ||= isInfinite;
      // An infinity that is certain decides the result and takes part in no partial product.
      if (!isInfinite) this.#doublings += Math.max(Math.abs(Math.log2(min)), Math.abs(Math.log2(max)));
      const ends = isInfinite ? [Math.sign(factor.lo), Math.sign(factor.lo)] : [factor.lo, factor.hi];
      [this.#lo, this.#hi] = productOfEnds(this.#lo, this.#hi, ends as [number, number]);
      this.#arePoints &&= factor.lo === factor.hi && isFloat32(factor.lo);
      if (this.#arePoints && !isInfinite) this.#odd *= min / unitOf(min);
    }
  }

  value(): Interval {
    const [lo, hi, nan] = [this.#lo, this.#hi, this.#nan];
    if (this.#isUndefined) return NOT_A_NUMBER;
    if (this.#doublings >= MAX_DOUBLINGS) return ANY_FLOAT;
    if (this.#hasZero) return this.#hasInfinity ? NOT_A_NUMBER : { lo: 0, hi: 0, nan };
    if (this.#hasInfinity) return { lo: lo * Infinity, hi: hi * Infinity, nan };
    if (this.#arePoints && this.#odd <= EXACT_UNITS) return { lo, hi, nan };
    const relative = gamma(2 * this.#count) + this.#count * OWN_ROUNDOFF;
    return widenedBy({ lo, hi, nan }, relative * Math.abs(lo), relative * Math.abs(hi));
  }
}

/** No operand contains 0, so that the ends are products of ends. */
function productOfEnds(lo: number, hi: number, [from, to]: readonly [number, number]): [number, number] {
  const products = [lo * from, lo * to, hi * from, hi * to];
  return [Math.min(...products), Math.max(...products)];
}
