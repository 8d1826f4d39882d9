import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms, bitsOfFloat } from './terms.ts';

/**
 * Bits of value * 2^power: 0 where that is below 2^-126, infinity where it overflows. For a normal value below
 * 2^(129 - power), so that the exponents' sum fits, and for smaller ones if power <= 0. Power is an i32, the result a u32.
 */
export function scaleByPower<V>(k: Terms<V>, value: V, power: V): V {
  const { a } = k;
  const bits = k.bits(value);
  const exponent = a.shiftLeft('i32', power, k.u(23));
  const scaled = a.add('i32', a.bitcast('u32', 'i32', k.magnitude(bits)), exponent);
  const limited = a.bitcast('i32', 'u32', a.min('i32', scaled, k.i(BITS.infinity)));
  const isNormal = a.lessOrEqual('i32', k.i(BITS.leastNormal), scaled);
  return k.or(k.and(bits, BITS.sign), k.choose(isNormal, limited, k.u(0)));
}

/** The x above which e^x is infinite: log of the largest float32. */
const LARGEST = 88.7228317;
/** The x from which down e^x rounds to 0, also where subnormal numbers are kept. */
const LEAST = -103.9721;
/** The largest size of x for which e^x is a normal number. */
const ORDINARY = bitsOfFloat(87);

/**
 * The exponential: the device's own where its value is normal; 0, infinity and NaN by bits. Grant: 3 + 2|x| ulp, the
 * device's. e^-Infinity is exactly 0, on which a masked softmax relies.
 */
export function exp<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const value = a.exp(x);
  const isSpecial = k.above(k.magnitude(k.bits(x)), ORDINARY);
  return a.rarely('f32', isSpecial, value, () => {
    const limited = k.choose(k.less(k.f(LARGEST), x), k.u(BITS.infinity), k.bits(value));
    const result = k.choose(k.less(x, k.f(LEAST)), k.u(0), limited);
    return k.nanFrom(k.bits(x), result);
  });
}

/** (2^r - 1) / r. */
const POWER: readonly number[] = [0.6931472, 0.2402265, 0.055503596, 0.009618062, 0.001339101, 0.00015463325];

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
  const value = k.plus(k.mul(r, k.polynomial(r, POWER)), 1);
  const scaled = scaleByPower(k, value, a.toInteger('i32', n));
  const isInfinite = a.lessOrEqual('f32', k.f(128), x);
  return k.nanFrom(k.bits(x), k.choose(isInfinite, k.u(BITS.infinity), scaled));
}

/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
const LOG2_E = 1.44269504;

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
