import type { NodeOp } from '@concord/backend-core/kernel';
import { ANY_BOOL, type Interval, isEmpty, isPoint, truth } from './interval.ts';

/** Returns whether a comparison may be true and whether it may be false. */
function possible(isTrue: boolean, isFalse: boolean): Interval {
  return { lo: isFalse ? 0 : 1, hi: isTrue ? 1 : 0, nan: false };
}

function less(a: Interval, b: Interval): Interval {
  const { some, nan } = operands(a, b);
  return possible(some && a.lo < b.hi, nan || (some && a.hi >= b.lo));
}

function lessOrEqual(a: Interval, b: Interval): Interval {
  const { some, nan } = operands(a, b);
  return possible(some && a.lo <= b.hi, nan || (some && a.hi > b.lo));
}

function equal(a: Interval, b: Interval): Interval {
  const { some, nan } = operands(a, b);
  const isSame = isPoint(a) && isPoint(b) && a.lo === b.lo;
  return possible(some && a.lo <= b.hi && b.lo <= a.hi, nan || !isSame);
}

function operands(a: Interval, b: Interval): { readonly some: boolean; readonly nan: boolean } {
  return { some: !isEmpty(a) && !isEmpty(b), nan: a.nan || b.nan };
}

/** The bool that is true where another is false. */
function inverted({ lo, hi }: Interval): Interval {
  return { lo: 1 - hi, hi: 1 - lo, nan: false };
}

/** Comparisons of any type, false with NaN but for `ne`. */
export const COMPARISONS: Readonly<Partial<Record<NodeOp, (a: Interval, b: Interval) => Interval>>> = {
  eq: equal,
  ne: (a, b) => inverted(equal(a, b)),
  lt: less,
  le: lessOrEqual,
  gt: (a, b) => less(b, a),
  ge: (a, b) => lessOrEqual(b, a),
};

/** `isNan` of a float. */
export function isNan(x: Interval): Interval {
  return possible(x.nan, !isEmpty(x));
}

/** `isFinite` of a float. */
export function isFinite(x: Interval): Interval {
  const isInfinite = isPoint({ ...x, nan: false }) && Math.abs(x.lo) === Infinity;
  return possible(!isEmpty(x) && !isInfinite, x.nan || x.lo === -Infinity || x.hi === Infinity);
}

/** Operations of bools, of which some may be true or false. */
export const BOOL_OPS: Readonly<Partial<Record<NodeOp, (a: Interval, b: Interval) => Interval>>> = {
  and: (a, b) => ({ lo: Math.min(a.lo, b.lo), hi: Math.min(a.hi, b.hi), nan: false }),
  or: (a, b) => ({ lo: Math.max(a.lo, b.lo), hi: Math.max(a.hi, b.hi), nan: false }),
  xor: (a, b) => (isPoint(a) && isPoint(b) ? truth(a.lo !== b.lo) : ANY_BOOL),
  not: inverted,
};
