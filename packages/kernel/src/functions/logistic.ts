import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** 64 ln 2. */
const SHIFT = 44.36142;
/** The x beyond which e^-x is 0, also where subnormal numbers are kept. */
const MOST = 104;
/** The x beyond which x e^-x is 0, also where subnormal numbers are kept. */
const MAX_OF_PRODUCT = 112;

/**
 * The logistic function: 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) below, with the device's exponential of -|x| alone,
 * which never overflows, and a denominator between 1 and 2. Grant: 8 + 2|x| ulp, of which the exponential has 3 + 2|x|.
 */
export function sigmoid<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const e = a.exp(k.neg(k.atMost(k.abs(x), MOST)));
  const numerator = k.select(k.hasSign(bits), e, k.f(1));
  return k.nanFrom(bits, k.bits(a.divide(numerator, k.plus(e, 1))));
}

/** x times the logistic function of x. At -Infinity the limit, 0. Grant: 8 + 2|x| ulp, of which the exponential has 3 + 2|x|. */
export function silu<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const t = k.atMost(k.abs(x), MAX_OF_PRODUCT);
  return timesLogistic(k, x, t, t);
}

/**
 * x / (1 + e^-2z) = x (1 + tanh z) / 2, with z = sqrt(2 / pi) (x + 0.044715 x^3). Four roundings of z, 4 |z| ulp
 * of the result and 8 |z| where a device truncates, come on top of the exponential's. Grant: 16 + 10 |z| ulp.
 */
export function geluTanh<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  // At 12 2z is 142.
  const t = k.atMost(k.abs(x), 12);
  const doubled = k.mul(t, k.plus(k.times(k.mul(t, t), 0.0713548162726), 1.59576912161));
  return timesLogistic(k, x, t, k.atMost(doubled, MAX_OF_PRODUCT));
}

/**
 * x times the logistic function of w, which has the sign of x and the magnitude `w`; `t` is |x|, cut off where e^-w
 * is 0. x e^w is still a normal number where e^w is not any more: there 2^64 e^w is used instead.
 */
function timesLogistic<V>(k: Terms<V>, x: V, t: V, w: V): V {
  const { a } = k;
  const bits = k.bits(x);
  const isNegative = k.hasSign(bits);
  const isFar = k.less(k.f(64), w);
  const e = a.exp(k.sub(k.select(isFar, k.f(SHIFT), k.f(0)), w));
  const numerator = k.select(isNegative, k.neg(k.mul(t, e)), x);
  const quotient = a.divide(numerator, k.plus(k.select(isFar, k.f(0), e), 1));
  const scaled = k.select(k.both(isFar, isNegative), k.times(quotient, 2 ** -64), quotient);
  // From 32 on the logistic function is 1.
  const isItself = k.either(k.isNan(bits), k.both(k.not(isNegative), k.atLeastBits(bits, THIRTY_TWO)));
  return k.float(k.choose(isItself, bits, k.bits(scaled)));
}

const THIRTY_TWO = 0x4200_0000;

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
