import { type IntegerType, ofType, wrapped } from './integers.ts';
import { anyOf, type Interval, isPoint, point } from './interval.ts';

/** Sum, wrapped. */
export function integerSum(type: IntegerType, terms: readonly Interval[]): Interval {
  let [lo, hi, exact, arePoints] = [0, 0, 0, true];
  for (const term of terms) {
    lo += term.lo;
    hi += term.hi;
    exact = (exact + term.lo) | 0;
    arePoints &&= isPoint(term);
  }
  return arePoints ? point(wrapped(type, exact)) : ofType(type, { lo, hi, nan: false });
}

/** Product, wrapped. */
export function integerProduct(type: IntegerType, factors: readonly Interval[]): Interval {
  let [lo, hi, exact, arePoints] = [1, 1, 1, true];
  for (const factor of factors) {
    const products = [lo * factor.lo, lo * factor.hi, hi * factor.lo, hi * factor.hi];
    lo = Math.min(...products);
    hi = Math.max(...products);
    exact = Math.imul(exact, factor.lo);
    arePoints &&= isPoint(factor);
  }
  if (arePoints) return point(wrapped(type, exact));
  return Number.isNaN(lo) || Number.isNaN(hi) ? anyOf(type) : ofType(type, { lo, hi, nan: false });
}

/** The number of bools that are true. */
export function countOf(terms: readonly Interval[]): Interval {
  let [lo, hi] = [0, 0];
  for (const term of terms) {
    lo += term.lo;
    hi += term.hi;
  }
  return { lo, hi, nan: false };
}
