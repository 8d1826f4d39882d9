import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** x = 4^half m, and the root of m. */
interface Root<V> {
  readonly root: V;
  /** An i32. */
  readonly half: V;
}

/**
 * Takes the bits of a positive normal number x = 4^half m apart, with m in [1, 4), and gives sqrt(m). WGSL allows the
 * built-in root the errors of an inverse root and a division together, so one Newton step follows, s + (m - s^2) / 2s,
 * after which less than 1 ulp is left (2 where a device truncates) whatever the device's root, its division and its
 * rounding of s^2 were like. s is the leading 12 bits of that root: of the root itself a compiler may hold that its
 * square is m, and leave out the step.
 */
function rootOf<V>(k: Terms<V>, bits: V): Root<V> {
  const { a } = k;
  const exponent = a.bitcast('u32', 'i32', a.shiftRight('u32', bits, k.u(23)));
  const half = a.shiftRight('i32', a.sub('i32', exponent, k.i(127)), k.u(1));
  const reduced = a.sub('i32', a.bitcast('u32', 'i32', bits), a.shiftLeft('i32', half, k.u(24)));
  const m = a.bitcast('i32', 'f32', reduced);
  const s = k.leading(a.sqrt(m));
  return { half, root: k.add(s, a.divide(k.sub(m, k.mul(s, s)), k.add(s, s))) };
}

/** value * 2^power as bits; all of them normal numbers. */
function raised<V>(k: Terms<V>, value: V, power: V): V {
  const { a } = k;
  const bits = a.add('i32', a.bitcast('f32', 'i32', value), a.shiftLeft('i32', power, k.u(23)));
  return a.bitcast('i32', 'u32', bits);
}

/** The square root. Grant: 3 ulp. A subnormal x counts as 0. */
export function sqrt<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { root, half } = rootOf(k, bits);
  const positive = k.choose(k.below(bits, BITS.infinity), raised(k, root, half), k.u(BITS.infinity));
  // Above the bits of infinity are the NaNs and everything with a sign.
  const real = k.choose(k.above(bits, BITS.infinity), k.u(BITS.nan), positive);
  const isZero = k.below(k.magnitude(bits), BITS.leastNormal);
  return k.float(k.choose(isZero, k.and(bits, BITS.sign), real));
}

/** 1 / sqrt(x): the reciprocal of the root above. Grant: 4 ulp. A subnormal x counts as 0, whose result is infinite. */
export function rsqrt<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { root, half } = rootOf(k, bits);
  const value = raised(k, a.divide(k.f(1), root), a.neg('i32', half));
  const positive = k.choose(k.below(bits, BITS.infinity), value, k.u(0));
  const real = k.choose(k.above(bits, BITS.infinity), k.u(BITS.nan), positive);
  const isZero = k.below(k.magnitude(bits), BITS.leastNormal);
  return k.float(k.choose(isZero, k.or(k.and(bits, BITS.sign), k.u(BITS.infinity)), real));
}
