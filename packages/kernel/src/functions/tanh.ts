import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** (tanh x - x) / x^3 in x^2. */
const P: readonly number[] = [-0.3333319, 0.13329132, -0.053559963, 0.020094337, -0.0051404675];

/**
 * The hyperbolic tangent: below 0.7 x + x^3 p(x^2), p a minimax polynomial of 5 coefficients (Lawson's iteration, 400
 * Chebyshev points, rounded to float32; error 0.13 ulp); above 1 - 2e / (1 + e) with e = e^(-2|x|), where the error of the
 * device's exponential counts less than twice. Largest error found: 1.2 ulp, with an exponential that is off by its grant
 * 2.9; grant: 8.
 */
export function tanh<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const t = k.atMost(k.abs(x), 10);
  const square = k.mul(t, t);
  const near = k.add(t, k.mul(k.mul(t, square), k.polynomial(square, P)));
  const e = a.exp(k.times(t, -2));
  const far = k.sub(k.f(1), a.divide(k.times(e, 2), k.plus(e, 1)));
  const value = k.bits(k.select(k.less(t, k.f(0.7)), near, far));
  return k.nanFrom(bits, k.or(value, k.and(bits, BITS.sign)));
}
