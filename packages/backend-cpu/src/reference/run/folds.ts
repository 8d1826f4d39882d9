import type { FoldOp, ScanNode, ScanOp, ValueType } from '@concord/backend-core/kernel';
import { anyOf, type Interval, isEmpty, isPoint, NOT_A_NUMBER, point } from './interval.ts';
import { type IntegerType, ofType, wrapped } from './integers.ts';
import { type Running, RunningProduct, RunningSum, sumOf } from './float-folds.ts';

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

/** Returns, for each place, the greatest `lo` after it. */
function suffixMaxima(values: readonly Interval[]): Float64Array {
  const maxima = new Float64Array(values.length).fill(-Infinity);
  for (let place = values.length - 2; place >= 0; place--) {
    maxima[place] = Math.max(maxima[place + 1] as number, (values[place + 1] as Interval).lo);
  }
  return maxima;
}

/** Sum, wrapped. */
class IntegerSum implements Running {
  readonly #type: IntegerType;
  #lo = 0;
  #hi = 0;
  #exact = 0;
  #arePoints = true;

  constructor(type: IntegerType) {
    this.#type = type;
  }

  add(term: Interval): void {
    this.#lo += term.lo;
    this.#hi += term.hi;
    this.#exact = (this.#exact + term.lo) | 0;
    this.#arePoints &&= isPoint(term);
  }

  value(): Interval {
    if (this.#arePoints) return point(wrapped(this.#type, this.#exact));
    return ofType(this.#type, { lo: this.#lo, hi: this.#hi, nan: false });
  }
}

/** Product, wrapped. */
class IntegerProduct implements Running {
  readonly #type: IntegerType;
  #lo = 1;
  #hi = 1;
  #exact = 1;
  #arePoints = true;

  constructor(type: IntegerType) {
    this.#type = type;
  }

  add(factor: Interval): void {
    const [lo, hi] = [this.#lo, this.#hi];
    const products = [lo * factor.lo, lo * factor.hi, hi * factor.lo, hi * factor.hi];
    this.#lo = Math.min(...products);
    this.#hi = Math.max(...products);
    this.#exact = Math.imul(this.#exact, factor.lo);
    this.#arePoints &&= isPoint(factor);
  }

  value(): Interval {
    if (this.#arePoints) return point(wrapped(this.#type, this.#exact));
    const [lo, hi] = [this.#lo, this.#hi];
    return Number.isNaN(lo) || Number.isNaN(hi) ? anyOf(this.#type) : ofType(this.#type, { lo, hi, nan: false });
  }
}

/** The greatest; NaN where one of the values is. */
class Greatest implements Running {
  #lo: number;
  #hi: number;
  #nan = false;
  #isUndefined = false;

  constructor(ofNone: number) {
    this.#lo = ofNone;
    this.#hi = ofNone;
  }

  add(value: Interval): void {
    this.#isUndefined ||= isEmpty(value);
    this.#lo = Math.max(this.#lo, value.lo);
    this.#hi = Math.max(this.#hi, value.hi);
    this.#nan ||= value.nan;
  }

  value(): Interval {
    return this.#isUndefined ? NOT_A_NUMBER : { lo: this.#lo, hi: this.#hi, nan: this.#nan };
  }
}

class Least implements Running {
  readonly #negated: Greatest;

  constructor(ofNone: number) {
    this.#negated = new Greatest(-ofNone);
  }

  add(value: Interval): void {
    this.#negated.add(negated(value));
  }

  value(): Interval {
    return negated(this.#negated.value());
  }
}

function runningOf(op: ScanOp, type: ValueType): Running {
  const isInteger = type === 'i32' || type === 'u32';
  switch (op) {
    case 'sum':
      return isInteger ? new IntegerSum(type) : new RunningSum(false);
    case 'product':
      return isInteger ? new IntegerProduct(type) : new RunningProduct();
    case 'max':
      return new Greatest(anyOf(type).lo);
    case 'min':
      return new Least(anyOf(type).hi);
  }
}

/** A scan of the values of a row: at each the fold of as many as it is of, in no order that is known. */
export function scanOf({ op, type, exclusive, reverse }: ScanNode, values: readonly Interval[]): readonly Interval[] {
  const running = runningOf(op, type);
  const results = [...values];
  for (let step = 0; step < values.length; step++) {
    const at = reverse ? values.length - 1 - step : step;
    if (exclusive) results[at] = running.value();
    running.add(values[at] as Interval);
    if (!exclusive) results[at] = running.value();
  }
  return results;
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
    case 'product':
    case 'max':
    case 'min':
      return foldWith(runningOf(op, type), values);
    case 'mean':
      return sumOf(values, true);
    case 'any':
      return foldWith(new Greatest(0), values);
    case 'all':
      return foldWith(new Least(1), values);
    case 'count':
      return countOf(values);
    case 'argmax':
      return placeOfGreatest(values);
    case 'argmin':
      return placeOfGreatest(values.map(negated));
  }
}

function foldWith(running: Running, values: readonly Interval[]): Interval {
  for (const value of values) running.add(value);
  return running.value();
}

function negated({ lo, hi, nan }: Interval): Interval {
  return { lo: -hi, hi: -lo, nan };
}
