import type { DType } from '@concord/backend-core';
import type { ValueType } from '@concord/backend-core/kernel';

/** The bits of an element that was read and nothing was done with. */
export interface Copied {
  readonly dtype: DType;
  readonly bits: number;
}

/**
 * The values that one node of a kernel may have on a correct device: a number from `lo` to `hi`, or NaN where `nan` says so. Without
 * numbers, where it must be NaN, `lo` is Infinity and `hi` -Infinity. Integers and bools (0, 1) are intervals too.
 */
export interface Interval {
  readonly lo: number;
  readonly hi: number;
  readonly nan: boolean;
  /** The origin of a float that was read, or is a constant or parameter, and then only selected or spread. */
  readonly copy?: Copied;
  /** The values of an integer that can only be one of few, ascending. */
  readonly choices?: readonly number[];
}

/** NaN, and nothing else. */
export const NOT_A_NUMBER: Interval = { lo: Infinity, hi: -Infinity, nan: true };
/** Any float, NaN too. */
export const ANY_FLOAT: Interval = { lo: -Infinity, hi: Infinity, nan: true };
/** True or false. */
export const ANY_BOOL: Interval = { lo: 0, hi: 1, nan: false };

const ANY: Readonly<Record<ValueType, Interval>> = {
  f32: ANY_FLOAT,
  i32: { lo: -(2 ** 31), hi: 2 ** 31 - 1, nan: false },
  u32: { lo: 0, hi: 2 ** 32 - 1, nan: false },
  bool: ANY_BOOL,
};

/** Every value of a type. */
export function anyOf(type: ValueType): Interval {
  return ANY[type];
}

/** One value, which may be NaN. */
export function point(value: number): Interval {
  return Number.isNaN(value) ? NOT_A_NUMBER : { lo: value, hi: value, nan: false };
}

/** The bool that is true where `value` is. */
export function truth(value: boolean): Interval {
  return point(value ? 1 : 0);
}

/** Returns whether it is one number and nothing else. */
export function isPoint({ lo, hi, nan }: Interval): boolean {
  return lo === hi && !nan;
}

/** Returns whether it holds no number. */
export function isEmpty({ lo, hi }: Interval): boolean {
  return lo > hi;
}

/** Returns whether a number is among its numbers. */
export function contains({ lo, hi }: Interval, value: number): boolean {
  return lo <= value && value <= hi;
}

/** The smallest interval with the values of both. */
export function hull(a: Interval, b: Interval): Interval {
  return { lo: Math.min(a.lo, b.lo), hi: Math.max(a.hi, b.hi), nan: a.nan || b.nan };
}

/** The smallest interval with these numbers; those that are NaN are left out. */
export function hullOf(numbers: readonly number[], nan: boolean): Interval {
  const known = numbers.filter((value) => !Number.isNaN(value));
  return known.length === 0 ? { ...NOT_A_NUMBER, nan } : { lo: Math.min(...known), hi: Math.max(...known), nan };
}
