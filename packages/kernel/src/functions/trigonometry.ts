import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, bitsOfFloat, Terms } from './terms.ts';

/** 2^34 * 2 / pi, 10937044409, less 2^33. */
const TWO_OVER_PI = 2_347_109_817;
/** (pi / 2) / 2^30. */
const RADIANS = Math.PI / 2 ** 31;
const QUARTER_PI = 0x3f49_0fda;
/** (sin r - r) / r^3 in r^2. */
const SINE: readonly number[] = [-0.16666655, 0.008332189, -0.00019518292];
/** (cos r - 1 + r^2 / 2) / r^4 in r^2. */
const COSINE: readonly number[] = [0.04166665, -0.0013887442, 2.4444078e-5];

/** x as quarter turns (u32, modulo 4) and a rest in radians, at most pi / 4 and a little more. */
interface Reduced<V> {
  readonly quarters: V;
  readonly rest: V;
}

/**
 * Takes whole quarter turns off. In integers, so that no compiler can regroup the differences in which everything cancels:
 * x = m 2^e, and m times the first 34 bits of 2 / pi has the quarters modulo 4 and 30 bits after their point
 * somewhere in its 64 bits (Payne and Hanek, Radian reduction for trigonometric functions, SIGNUM Newsletter 18, 1983,
 * cut to what the grant needs). The 2 / pi is wrong by 0.3 units of its last place: 0.2 |x| / 1024 units of 2^-23 in the
 * result. Below pi / 4 the rest is x itself.
 */
function reduce<V>(k: Terms<V>, bits: V): Reduced<V> {
  const { a } = k;
  const magnitude = k.magnitude(bits);
  const fraction = k.or(k.and(bits, BITS.fraction), k.u(BITS.leastNormal));
  // 0 from 2^24 on, where anything is right, to 24 at pi / 4.
  const exponent = a.bitcast('u32', 'i32', a.shiftRight('u32', magnitude, k.u(23)));
  const down = a.max('i32', a.min('i32', a.sub('i32', k.i(150), exponent), k.i(24)), k.i(0));
  const shift = a.bitcast('i32', 'u32', down);
  // fraction * (2^33 + TWO_OVER_PI) in two words.
  const low = a.mul('u32', fraction, k.u(TWO_OVER_PI));
  const high = a.add('u32', a.mulHigh(fraction, k.u(TWO_OVER_PI)), a.add('u32', fraction, fraction));
  const upper = a.shiftLeft('u32', high, a.sub('u32', k.u(28), shift));
  const scaled = k.or(a.shiftRight('u32', low, a.add('u32', shift, k.u(4))), upper);
  const quarters = a.shiftRight('u32', a.add('u32', scaled, k.u(2 ** 29)), k.u(30));
  const left = a.sub('u32', scaled, a.shiftLeft('u32', quarters, k.u(30)));
  const rest = k.times(a.toFloat('i32', a.bitcast('u32', 'i32', left)), RADIANS);
  const isSmall = k.below(magnitude, QUARTER_PI);
  return {
    quarters: k.choose(isSmall, k.u(0), quarters),
    rest: k.select(isSmall, k.float(magnitude), rest),
  };
}

/** The sine of |x| with a number of quarters more, and the sign turned where `sign` has its upper bit set; NaN of infinity. */
function sineOf<V>(k: Terms<V>, bits: V, more: number, sign: V): V {
  const { a } = k;
  const { quarters, rest } = reduce(k, bits);
  const square = k.mul(rest, rest);
  const sine = k.add(rest, k.mul(k.mul(rest, square), k.polynomial(square, SINE)));
  const tail = k.mul(k.mul(square, square), k.polynomial(square, COSINE));
  const cosine = k.plus(k.sub(tail, k.times(square, 0.5)), 1);
  const turns = a.add('u32', quarters, k.u(more));
  const isOdd = a.equal('u32', k.and(turns, 1), k.u(1));
  const value = k.choose(isOdd, k.bits(cosine), k.bits(sine));
  const signed = a.xor('u32', value, a.xor('u32', a.shiftLeft('u32', k.and(turns, 2), k.u(30)), sign));
  const isNumber = k.below(k.magnitude(bits), BITS.infinity);
  return k.float(k.choose(isNumber, signed, k.u(BITS.nan)));
}

/**
 * The sine of radians: the reduction above, and minimax polynomials of |r| <= pi / 4 (3 coefficients each, fitted by Lawson's
 * iteration at 400 Chebyshev points and rounded to float32; error 0.03 ulp). Largest error found: 0.9 + 0.2 |x| / 1024
 * units of 2^-23; grant: 4 + |x| / 1024 below |x| = 2^24, from there on it anything in [-1, 1].
 */
export function sin<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  return sineOf(k, bits, 0, k.and(bits, BITS.sign));
}

/** The cosine of radians, a quarter turn from the sine, as accurate. */
export function cos<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  return sineOf(k, k.bits(x), 1, k.u(0));
}

/** (atan t - t) / t^3 in t^2. */
const P: readonly number[] = [
  ...[-0.333333, 0.1999853, -0.14264014, 0.10950861, -0.08399208],
  ...[0.05787887, -0.031093534, 0.010866271, -0.0017821442],
];
/** Greater divisors are scaled down, as their reciprocals may be subnormal; of a dividend that this makes 0 the quotient is. */
const LARGE = bitsOfFloat(2 ** 100);
const DOWN = bitsOfFloat(2 ** -30);
/** Lesser divisors are scaled up, and dividends with them: subnormal numbers then count where the device has them. */
const SMALL = bitsOfFloat(2 ** -100);
const UP = bitsOfFloat(2 ** 30);

/**
 * The angle of the point (x, y), of a signed zero as C99 Annex F has it. With t the quotient of the lesser and the greater
 * magnitude it is atan t, from a multiple of pi / 2 on or towards it. atan t = t + t^3 p(t^2), p a minimax polynomial of 9
 * coefficients for t <= 1 (Lawson's iteration, 400 Chebyshev points, rounded to float32 one after the other; error 0.05
 * ulp). A relative error of the quotient is at most as large in atan t, which where t is above 1/2 may be 1.6 times as many
 * of its units: 4 of the 2.5 that a division is granted. Polynomial, sum and pi / 2 add 2. Grant: 6.
 */
export function atan2<V>(a: Arithmetic<V>, y: V, x: V): V {
  const k = new Terms(a);
  const [yBits, xBits] = [k.bits(y), k.bits(x)];
  const [height, width] = [k.magnitude(yBits), k.magnitude(xBits)];
  const isSteep = a.less('u32', width, height);
  const [least, most] = [k.choose(isSteep, width, height), k.choose(isSteep, height, width)];

  const up = k.choose(k.below(most, SMALL), k.u(UP), k.u(BITS.one));
  const scale = k.float(k.choose(k.below(most, LARGE), up, k.u(DOWN)));
  const divisor = a.opaque(k.mul(k.float(most), scale));
  const quotient = k.bits(a.opaque(a.divide(k.mul(k.float(least), scale), divisor)));
  // Of 0, of what counts as 0, and of an infinity nothing is divided; of equals the quotient is 1 whatever they are.
  const isZero = k.either(k.below(k.bits(divisor), BITS.leastNormal), k.atLeastBits(most, BITS.infinity));
  const areEqual = k.both(a.equal('u32', least, most), k.above(most, 0));
  const t = k.float(k.choose(areEqual, k.u(BITS.one), k.choose(isZero, k.u(0), quotient)));

  const square = k.mul(t, t);
  const angle = k.add(t, k.mul(k.mul(t, square), k.polynomial(square, P)));
  const isBehind = k.hasSign(xBits);
  const from = k.choose(isBehind, k.u(bitsOfFloat(Math.PI)), k.u(0));
  const base = k.float(k.choose(isSteep, k.u(bitsOfFloat(Math.PI / 2)), from));
  // Towards pi / 2 where x is positive, and towards pi; else away from them.
  const turns = a.xor('bool', isSteep, isBehind);
  const directed = a.xor('u32', k.bits(a.opaque(angle)), k.choose(turns, k.u(BITS.sign), k.u(0)));
  const sum = k.bits(a.opaque(k.add(base, k.float(directed))));
  const signed = k.or(sum, k.and(yBits, BITS.sign));
  return k.float(k.choose(k.above(most, BITS.infinity), k.u(BITS.nan), signed));
}
