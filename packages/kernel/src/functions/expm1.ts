import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
const LOG2_E = 1.44269504;
const LARGEST = 88.7228317;

/** (e^r - 1 - r) / r^2. */
const Q: readonly number[] = [0.5, 0.16666666, 0.041666493, 0.008333546, 0.0013932325, 0.00019761805];

/**
 * e^r - 1 for |r| <= 0.3468: r + r^2 q(r), where q is a minimax polynomial of degree 5 for the relative error of e^r - 1,
 * fitted by linear programming at 1,500 Chebyshev points; the coefficients were rounded to float32 one after the other,
 * from the lowest, and the others fitted anew. Its error is 4.4e-10, 0.004 ulp.
 */
export function expm1Reduced<V>(k: Terms<V>, r: V): V {
  return k.add(r, k.mul(k.mul(r, r), k.polynomial(r, Q)));
}

/**
 * e^x - 1. With k the integer nearest to x / ln 2 and r = x - k ln 2 (Cody and Waite, Software Manual for the Elementary
 * Functions, chapter 6): 2^k (e^r - 1) + (2^k - 1), in which nothing cancels. Worked out at half its size, which does
 * not overflow before the result does. Largest error found: 1.4 ulp, where a device truncates 3.1; grant: 8.
 */
export function expm1<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const limited = k.atMost(k.atLeast(x, -20), LARGEST);
  const n = a.roundEven(k.times(limited, LOG2_E));
  // Opaque: a compiler would make one product of the two.
  const rest = a.opaque(k.sub(limited, k.times(n, LN2_HI)));
  const p = expm1Reduced(k, k.sub(rest, k.times(n, LN2_LO)));
  const exponent = a.add('i32', a.toInteger('i32', n), k.i(126));
  const half = a.bitcast('i32', 'f32', a.shiftLeft('i32', exponent, k.u(23)));
  const sum = k.add(k.mul(half, p), k.sub(half, k.f(0.5)));
  // With n = 0 the result is p, and must stay p for a compiler that would factor out the power.
  const value = k.select(a.equal('f32', n, k.f(0)), p, k.add(sum, sum));
  const bits = k.bits(x);
  const result = k.choose(k.less(k.f(LARGEST), x), k.u(BITS.infinity), k.bits(value));
  return k.nanFrom(bits, result);
}
