import type { ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** A comparison of a graph. */
export type Comparison = 'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge';

/** Compares two values of a type. With NaN all are false but `ne`; bools know `eq` and `ne` alone. */
export function compare<V>(a: Arithmetic<V>, op: Comparison, type: ValueType, x: V, y: V): V {
  const k = new Terms(a);
  if (op === 'ne') return k.not(compare(a, 'eq', type, x, y));
  if (op === 'gt') return compare(a, 'lt', type, y, x);
  if (op === 'ge') return compare(a, 'le', type, y, x);
  if (type === 'bool') return k.not(a.xor('bool', x, y));
  const result = op === 'eq' ? a.equal(type, x, y) : op === 'lt' ? a.less(type, x, y) : a.lessOrEqual(type, x, y);
  if (type !== 'f32') return result;
  const hasNan = k.either(k.isNan(k.bits(x)), k.isNan(k.bits(y)));
  return k.both(k.not(hasNan), result);
}

/** Returns the canonical NaN if either is NaN, else the result. */
function nanOfEither<V>(k: Terms<V>, x: V, y: V, result: V): V {
  const hasNan = k.either(k.isNan(k.bits(x)), k.isNan(k.bits(y)));
  return k.float(k.choose(hasNan, k.u(BITS.nan), k.bits(result)));
}

/** The lesser of two float32; NaN where either is, where the built-ins of shader languages drop NaN. */
export function min<V>(a: Arithmetic<V>, x: V, y: V): V {
  return nanOfEither(new Terms(a), x, y, a.min('f32', x, y));
}

/** The greater of two float32; NaN where either is. */
export function max<V>(a: Arithmetic<V>, x: V, y: V): V {
  return nanOfEither(new Terms(a), x, y, a.max('f32', x, y));
}

/** -1, 0 or 1 (zeros keep their sign); NaN of NaN. By the bits, exact. */
export function sign<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const magnitude = k.magnitude(bits);
  const isItself = k.either(a.equal('u32', magnitude, k.u(0)), k.above(magnitude, BITS.infinity));
  return k.float(k.choose(isItself, bits, k.or(k.and(bits, BITS.sign), k.u(BITS.one))));
}

/** Returns whether a float32 is NaN, by its bits. */
export function isNan<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  return k.isNan(k.bits(x));
}

/** Returns whether a float32 is neither NaN nor an infinity, by its bits. */
export function isFinite<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  return k.below(k.magnitude(k.bits(x)), BITS.infinity);
}

/**
 * The bits of a float32 as an i32 in the order of the numbers: those with a sign are inverted around, so that -0 comes right
 * below +0. Its own inverse, on bits.
 */
export function orderedBits<V>(a: Arithmetic<V>, bits: V): V {
  const k = new Terms(a);
  const inverted = a.and('i32', a.shiftRight('i32', bits, k.u(31)), k.i(BITS.magnitude));
  return a.xor('i32', bits, inverted);
}
