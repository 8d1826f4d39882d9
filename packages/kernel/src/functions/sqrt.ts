import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** x = 4^half m. */
interface Reduced<V> {
  /** The mantissa, in [1, 4). */
  readonly m: V;
  /** An i32. */
  readonly half: V;
}

/** Takes the bits of a positive normal number apart. */
function reduce<V>(k: Terms<V>, bits: V): Reduced<V> {
  const { a } = k;
  const exponent = a.bitcast('u32', 'i32', a.shiftRight('u32', bits, k.u(23)));
  const half = a.shiftRight('i32', a.sub('i32', exponent, k.i(127)), k.u(1));
  const m = a.sub('i32', a.bitcast('u32', 'i32', bits), a.shiftLeft('i32', half, k.u(24)));
  return { half, m: a.bitcast('i32', 'f32', m) };
}

/**
 * The 16 leading bits of a number that a Newton step starts from. Of a root itself a compiler may hold that its square is the
 * operand, and leave out the step.
 */
function start<V>(k: Terms<V>, value: V): V {
  return k.float(k.and(k.bits(value), 0xffff_ff00));
}

/** value * 2^power as bits; all of them normal numbers. */
function raised<V>(k: Terms<V>, value: V, power: V): V {
  const { a } = k;
  const bits = a.add('i32', a.bitcast('f32', 'i32', value), a.shiftLeft('i32', power, k.u(23)));
  return a.bitcast('i32', 'u32', bits);
}

/**
 * The square root. WGSL allows the built-in root the errors of an inverse root and a division together, so one Newton step
 * follows, s + (m - s^2) / 2s, after which less than 1 ulp is left whatever the device's root, its division and its
 * rounding of s^2 were like. Largest error found: 0.9 ulp; grant: 3. A subnormal x counts as 0.
 */
export function sqrt<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { m, half } = reduce(k, bits);
  const s = start(k, a.sqrt(m));
  const root = k.add(s, a.divide(k.sub(m, k.mul(s, s)), k.add(s, s)));
  const positive = k.choose(k.below(bits, BITS.infinity), raised(k, root, half), k.u(BITS.infinity));
  // Above the bits of infinity are the NaNs and everything with a sign.
  const real = k.choose(k.above(bits, BITS.infinity), k.u(BITS.nan), positive);
  const isZero = k.below(k.magnitude(bits), BITS.leastNormal);
  return k.float(k.choose(isZero, k.and(bits, BITS.sign), real));
}

/**
 * 1 / sqrt(x): the reciprocal of the device's root and a Newton step, r + r (1 - m r^2) / 2. Largest error found: 1.2 ulp;
 * grant: 4. A subnormal x counts as 0, whose result is infinite.
 */
export function rsqrt<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { m, half } = reduce(k, bits);
  const r = start(k, a.divide(k.f(1), a.sqrt(m)));
  const rest = k.sub(k.f(1), k.mul(m, k.mul(r, r)));
  const value = raised(k, k.add(r, k.mul(k.times(r, 0.5), rest)), a.neg('i32', half));
  const positive = k.choose(k.below(bits, BITS.infinity), value, k.u(0));
  const real = k.choose(k.above(bits, BITS.infinity), k.u(BITS.nan), positive);
  const isZero = k.below(k.magnitude(bits), BITS.leastNormal);
  return k.float(k.choose(isZero, k.or(k.and(bits, BITS.sign), k.u(BITS.infinity)), real));
}
