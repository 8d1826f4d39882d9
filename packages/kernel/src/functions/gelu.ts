import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** The x beyond which x Q(x) is 0, also where subnormal numbers are kept. */
const MOST = 15;
/** The bits of 2^-125 and 8 ulp: half of it is a normal number, whatever of its last bits is lost. */
const TINY = 0x0100_0008;
/** t e^(t^2/2) Q(t) / v in v = t / (7t/8 + 31/16). */
const TAIL: readonly number[] = [
  0.96874994, -0.6499296, -0.060887866, 0.1087929, 0.05532035, -0.008085427, 0.0127017, -0.051797412, 0.022437803,
];
/** erf z / z in z^2. */
const P: readonly number[] = [1.1283791, -0.37612253, 0.11279596, -0.026694378, 0.004897394, -0.0005547422];

/** 7t/8 + 31/16. */
function denominator<V>(k: Terms<V>, t: V): V {
  return k.plus(k.times(t, 0.875), 1.9375);
}

/**
 * The exact GELU, x Phi(x) = max(x, 0) - |x| Q(|x|), in which nothing cancels: Q(t) = erfc(t / sqrt 2) / 2, the upper tail of
 * the normal distribution, is at most 1/2. Taking it and its exponential apart keeps the far tail as good as the rest, where
 * 1 - erf has no digits left: t Q(t) = e^(-t^2/2) v p(v) with v = t / (7t/8 + 31/16), which maps [0, 15] to [0, 1], as in
 * Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Mathematics of Computation 36 (1981). With
 * these two numbers the three factors can be multiplied in any order, and their product be normal, without one of them
 * becoming subnormal.
 *
 * p is a minimax polynomial of degree 8 for the relative error divided by 1 + t^2/8, less than what the square in the
 * exponential costs; fitted by Lawson's iteration at 400 Chebyshev points, rounded to float32 one coefficient after the
 * other. Its error is 0.5 (1 + t^2/8) ulp.
 *
 * At -Infinity the limit, 0. Few operations, because a GELU is as slow as its arithmetic. Grant: 16 + 2 x^2, of which the
 * exponential has 3 + x^2 and the rounding of the square x^2 / 2.
 */
export function gelu<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const t = k.atMost(k.abs(x), MOST);
  const v = a.divide(t, denominator(k, t));
  const lower = k.mul(k.mul(v, k.polynomial(v, TAIL)), a.exp(k.mul(k.times(t, -0.5), t)));
  const value = k.bits(k.sub(k.atLeast(x, 0), lower));
  // Below that the product may be flushed, which would leave x: 0 there. NaN is above all, counted from there.
  const magnitude = k.magnitude(k.bits(x));
  const special = a.sub('u32', k.u(0), a.shiftRight('u32', magnitude, k.u(25)));
  const isSpecial = k.above(a.sub('u32', magnitude, k.u(TINY)), BITS.infinity - TINY);
  return k.float(k.choose(isSpecial, special, value));
}

/**
 * The error function: z p(z^2) below 1, p a minimax polynomial of 6 coefficients (Lawson's iteration, 400 Chebyshev
 * points, rounded to float32; error 0.4 ulp); above 1 - 2 Q(sqrt(2) z), with Q as in {@link gelu}. Largest error found:
 * 2.3 ulp, where a device truncates 3.7; grant: 8.
 */
export function erf<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const z = k.atMost(k.abs(x), 4);
  const square = k.mul(z, z);
  const near = k.mul(z, k.polynomial(square, P));
  const t = k.times(z, Math.SQRT2);
  const c = a.divide(k.f(1), denominator(k, t));
  const tail = k.mul(c, k.polynomial(k.mul(t, c), TAIL));
  const far = k.sub(k.f(1), k.mul(k.times(tail, 2), a.exp(k.neg(square))));
  const value = k.bits(k.select(k.less(z, k.f(1)), near, far));
  return k.nanFrom(bits, k.or(value, k.and(bits, BITS.sign)));
}
