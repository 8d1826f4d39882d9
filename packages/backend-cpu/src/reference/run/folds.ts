import type { FoldOp, ValueType } from '@concord/backend-core/kernel';
import { productOf, sumOf } from './float-folds.ts';
import { countOf, integerProduct, integerSum } from './integer-folds.ts';
import { anyOf, type Interval, isEmpty, NOT_A_NUMBER } from './interval.ts';
import { placeOfGreatest } from './places.ts';

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
