import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import { anyOf, type Interval, isEmpty, isPoint, NOT_A_NUMBER, point } from './interval.ts';
import { type IntegerType, ofType, wrapped } from './integers.ts';
import { productOf, sumOf } from './float-folds.ts';

/**
 * argmax: the place of the first NaN, else of the first of the greatest. Each place is possible that some choice of the
 * values from their intervals gives.
 */
export function placeOfGreatest(values: readonly Interval[]): Interval {
  if (values.length === 0) return point(0);
  const places = possiblePlaces(values);
  const [lo, hi] = [places[0] as number, places.at(-1) as number];
  return lo === hi ? point(lo) : { lo, hi, nan: false, choices: places };
}

function possiblePlaces(values: readonly Interval[]): readonly number[] {
  const places: number[] = [];
  const certainNan = values.findIndex(isEmpty);
  const greatestBehind = suffixMaxima(values);
  let greatestBefore = -Infinity;
  for (const [place, { lo, hi, nan }] of values.entries()) {
    if (place === certainNan) return [...places, place];
    // An equal one before it would be the first; one after it would not.
    const isGreatest = (place === 0 || hi > greatestBefore) && hi >= (greatestBehind[place] as number);
    if (nan || (certainNan < 0 && isGreatest)) places.push(place);
    greatestBefore = Math.max(greatestBefore, lo);
  }
  return places;
}

/** For each place the greatest `lo` after it. */
function suffixMaxima(values: readonly Interval[]): Float64Array {
  const maxima = new Float64Array(values.length).fill(-Infinity);
  for (let place = values.length - 2; place >= 0; place--) {
    maxima[place] = Math.max(maxima[place + 1] as number, (values[place + 1] as Interval).lo);
  }
  return maxima;
}

/** Sum, wrapped. */
function integerSum(type: IntegerType, terms: readonly Interval[]): Interval {
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
function integerProduct(type: IntegerType, factors: readonly Interval[]): Interval {
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
function countOf(terms: readonly Interval[]): Interval {
  let [lo, hi] = [0, 0];
  for (const term of terms) {
    lo += term.lo;
    hi += term.hi;
  }
  return { lo, hi, nan: false };
}

/** A fold of the values of a row, in no order that is known but for argmax and argmin. */
export function foldOf(op: FoldOp, type: ValueType, values: readonly Interval[]): Interval {
  switch (op) {
    case 'sum':
      return type === 'i32' || type === 'u32' ? integerSum(type, values) : sumOf(values, false);
    case 'mean':
      return sumOf(values, true);
    case 'product':
      return type === 'i32' || type === 'u32' ? integerProduct(type, values) : productOf(values);
    case 'max':
      return greatest(values, anyOf(type).lo);
    case 'min':
      return negated(greatest(values.map(negated), -anyOf(type).hi));
    case 'any':
      return greatest(values, 0);
    case 'all':
      return negated(greatest(values.map(negated), -1));
    case 'count':
      return countOf(values);
    case 'argmax':
      return placeOfGreatest(values);
    case 'argmin':
      return placeOfGreatest(values.map(negated));
  }
}

function negated({ lo, hi, nan }: Interval): Interval {
  return { lo: -hi, hi: -lo, nan };
}

/** NaN where one of the values is. */
function greatest(values: readonly Interval[], ofNone: number): Interval {
  if (values.some(isEmpty)) return NOT_A_NUMBER;
  let [lo, hi, nan] = [ofNone, ofNone, false];
  for (const value of values) {
    lo = Math.max(lo, value.lo);
    hi = Math.max(hi, value.hi);
    nan ||= value.nan;
  }
  return { lo, hi, nan };
}
