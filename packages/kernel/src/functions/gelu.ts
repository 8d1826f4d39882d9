import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** Beyond it x Q(x) is 0, also where subnormal numbers are kept. */
const MOST = 15;
const TAIL: readonly number[] = [
  1.7499998, -3.1370122, 2.693999, -0.70497715, -0.4996147, 0.20885299, 0.20006719, -0.112870984,
];
/** erf z / z in z^2. */
const P: readonly number[] = [1.1283791, -0.37612253, 0.11279596, -0.026694378, 0.004897394, -0.0005547422];

/** e^(t^2/2) Q(t) without its factor c, as {@link scaledTail} says. */
interface ScaledTail<V> {
  /** 1 / (t + 7/2). */
  readonly c: V;
  /** t c. */
  readonly v: V;
  readonly p: V;
}

/**
 * The upper tail of the normal distribution, Q(t) = erfc(t / sqrt 2) / 2, without its exponential, for t in [0, 15]:
 * e^(t^2/2) Q(t) = c p(t c) with c = 1 / (t + 7/2). It falls slowly, from 1/2 to about 0.4 / t; the variable maps t to
 * [0, 0.81], as in Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Mathematics of
 * Computation 36 (1981). Taking it and the exponential apart keeps the far tail as good as the rest, where 1 - erf
 * has no digits left.
 *
 * p is a minimax polynomial of degree 7 for the relative error divided by 1 + t^2/8, less than what the square in the
 * exponential costs; fitted by Lawson's iteration at 400 Chebyshev points, rounded to float32 one coefficient after the
 * other. Its error is 1.2 (1 + t^2/8) ulp.
 */
function scaledTail<V>(k: Terms<V>, t: V): ScaledTail<V> {
  const c = k.a.divide(k.f(1), k.plus(t, 3.5));
  const v = k.mul(t, c);
  return { c, v, p: k.polynomial(v, TAIL) };
}

/**
 * The exact GELU, x Phi(x) = max(x, 0) - |x| Q(|x|), in which nothing cancels, Q being at most 1/2. |x| is multiplied into
 * the tail before the exponential is: the product is a normal number wherever the result is. At -Infinity the
 * limit, 0. Few operations, because a GELU is as slow as its arithmetic. Largest error found: see the tests; grant:
 * 16 + 2 x^2, of which the exponential has 3 + x^2 and the rounding of the square x^2 / 2.
 */
export function gelu<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const t = k.atMost(k.abs(x), MOST);
  const { v, p } = scaledTail(k, t);
  const lower = k.mul(k.mul(v, p), a.exp(k.times(k.mul(t, t), -0.5)));
  return k.nanFrom(k.bits(x), k.bits(k.sub(k.atLeast(x, 0), lower)));
}

/**
 * The error function: z p(z^2) below 1, p a minimax polynomial of 6 coefficients (Lawson's iteration, 400 Chebyshev
 * points, rounded to float32; error 0.4 ulp); above 1 - 2 Q(sqrt(2) z). Largest error found: see the tests; grant: 8.
 */
export function erf<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const z = k.atMost(k.abs(x), 4);
  const square = k.mul(z, z);
  const near = k.mul(z, k.polynomial(square, P));
  const { c, p } = scaledTail(k, k.times(z, Math.SQRT2));
  const far = k.sub(k.f(1), k.mul(k.times(k.mul(c, p), 2), a.exp(k.neg(square))));
  const value = k.bits(k.select(k.less(z, k.f(1)), near, far));
  return k.nanFrom(bits, k.or(value, k.and(bits, BITS.sign)));
}
