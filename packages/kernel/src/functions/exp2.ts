import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { scaleByPower } from './scale-by-power.ts';
import { BITS, Terms } from './terms.ts';

/** (2^r - 1) / r. */
const P: readonly number[] = [0.6931472, 0.2402265, 0.055503596, 0.009618062, 0.001339101, 0.00015463325];

/**
 * 2^x = 2^k 2^r, with k the integer nearest to x and r = x - k, which is exact. 2^r = 1 + r p(r), p a minimax polynomial
 * of degree 5 for |r| <= 0.5005, fitted by Lawson's iteration at 400 Chebyshev points, its coefficients rounded to float32
 * one after the other; error 0.03 ulp. Largest error found: 1.1 ulp, where a device truncates 1.3; grant: 4. Results
 * below 2^-126 are 0.
 */
export function exp2<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const limited = k.atMost(k.atLeast(x, -127), 128);
  const n = a.roundEven(limited);
  const r = k.sub(limited, n);
  const value = k.plus(k.mul(r, k.polynomial(r, P)), 1);
  const scaled = scaleByPower(k, value, a.toInteger('i32', n));
  const isInfinite = a.lessOrEqual('f32', k.f(128), x);
  return k.nanFrom(k.bits(x), k.choose(isInfinite, k.u(BITS.infinity), scaled));
}
