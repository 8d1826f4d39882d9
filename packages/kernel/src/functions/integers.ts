import type { Arithmetic, IntegerType } from '../arithmetic/arithmetic.ts';
import { Terms } from './terms.ts';

/** 2^23: from here on a float32 is an integer, or an infinity or NaN. */
const INTEGERS = 0x4b00_0000;

/** `floor`, `ceil`, `trunc`, or `roundEven` (ties to even) of a float32; integers, infinities and NaN stay as they are. */
export function rounded<V>(a: Arithmetic<V>, way: 'floor' | 'ceil' | 'trunc' | 'roundEven', x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const isItself = k.atLeastBits(k.magnitude(bits), INTEGERS);
  return k.float(k.choose(isItself, bits, k.bits(a[way](x))));
}

const MIN_I32 = 0x8000_0000;
const MAX_I32 = 0x7fff_ffff;
const MAX_U32 = 0xffff_ffff;

/** A float32 truncated to an i32: the limits where it is beyond them, 0 where it is NaN. */
export function toI32<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  // The largest float32 below 2^31.
  const inRange = k.atMost(k.atLeast(x, -(2 ** 31)), 2_147_483_520);
  const value = a.toInteger('i32', inRange);
  const isMore = a.lessOrEqual('f32', k.f(2 ** 31), x);
  const limited = a.select('i32', isMore, k.i(MAX_I32), value);
  return a.select('i32', k.isNan(k.bits(x)), k.i(0), limited);
}

/** A float32 truncated to a u32: the limits where it is beyond them, 0 where it is NaN. */
export function toU32<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  // The largest float32 below 2^32.
  const inRange = k.atMost(k.atLeast(x, 0), 4_294_967_040);
  const value = a.toInteger('u32', inRange);
  const isMore = a.lessOrEqual('f32', k.f(2 ** 32), x);
  return k.choose(k.isNan(k.bits(x)), k.u(0), k.choose(isMore, k.u(MAX_U32), value));
}

/** A divisor that the raw operations admit: 1 instead of 0, and instead of -1 for the dividend -2^31. */
function safeDivisor<V>(a: Arithmetic<V>, type: IntegerType, x: V, y: V): V {
  const k = new Terms(a);
  const isZero = a.equal(type, y, a.constant(type, 0));
  if (type === 'u32') return k.choose(isZero, k.u(1), y);
  const overflows = k.both(a.equal('i32', x, k.i(MIN_I32)), a.equal('i32', y, k.i(-1)));
  return a.select('i32', k.either(isZero, overflows), k.i(1), y);
}

/** The truncated quotient of integers; 0 where the divisor is, -2^31 / -1 = -2^31. */
export function quotient<V>(a: Arithmetic<V>, type: IntegerType, x: V, y: V): V {
  const zero = a.constant(type, 0);
  const value = a.quotient(type, x, safeDivisor(a, type, x, y));
  return a.select(type, a.equal(type, y, zero), zero, value);
}

/** The remainder of {@link quotient}, with the sign of the dividend; 0 where the divisor is. */
export function remainder<V>(a: Arithmetic<V>, type: IntegerType, x: V, y: V): V {
  return a.remainder(type, x, safeDivisor(a, type, x, y));
}

/** x shifted by `amount & 31` bits, an amount of x's type; to the right an i32 keeps its sign. */
export function shifted<V>(a: Arithmetic<V>, way: 'shl' | 'shr', type: IntegerType, x: V, amount: V): V {
  const k = new Terms(a);
  const bits = k.and(type === 'u32' ? amount : a.bitcast('i32', 'u32', amount), 31);
  return way === 'shl' ? a.shiftLeft(type, x, bits) : a.shiftRight(type, x, bits);
}
