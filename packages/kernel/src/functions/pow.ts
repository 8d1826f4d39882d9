import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { expm1Reduced, scaleByPower } from './exponential.ts';
import { log1pTail, logReduce } from './log.ts';
import { BITS, Terms } from './terms.ts';

const LN2 = 0.693147181;
const LOG2_E = 1.44269504;
const LOG2_E_HI = 1.4423828125;
const LOG2_E_LO = 3.12228389e-4;
/** The exponent beyond which the result is 0, 1 or infinite, and every exponent an even number. */
const MAX_TIMES = 2 ** 32;

/** The sum of two numbers, the second small beside the first, which has 12 bits. */
interface Pair<V> {
  readonly hi: V;
  readonly lo: V;
}

/**
 * x^y. |x|^y = 2^(y log2 |x|). The exponential multiplies the relative error of its argument by up to 88, so log2 |x| is
 * worked out to about 29 bits: from log(1 + f) = f - f^2/2 + f^3 p(f), times log2 e, plus the exponent, and last times y.
 * After each step the value is a leading part of 12 bits and a rest; products of leading parts are exact (Dekker, A
 * floating-point technique for extending the available precision, Numerische Mathematik 18, 1971). Leading parts are cut
 * off by the bits and not by adding and subtracting, which a compiler may simplify away (Mesa's does); were a rest lost
 * all the same, the result would still be within the grant, 16 + 5|y log2|x|| + 3|y| ulp. Largest error found: 7.3 ulp.
 *
 * Special values as C99 Annex F says, all by the bits. A subnormal x or y counts as 0.
 */
export function pow<V>(a: Arithmetic<V>, x: V, y: V): V {
  const k = new Terms(a);
  const [xBits, yBits] = [k.bits(x), k.bits(y)];
  const [base, exponent] = [k.magnitude(xBits), k.magnitude(yBits)];
  const times = k.atMost(k.atLeast(y, -MAX_TIMES), MAX_TIMES);
  const finite = power(k, log2Pair(k, base), times);

  const negative = k.hasSign(xBits);
  const half = k.times(times, 0.5);
  const isInteger = a.equal('f32', a.floor(times), times);
  const isOdd = k.both(isInteger, k.not(a.equal('f32', a.floor(half), half)));
  const [isZero, isInfinite] = [k.below(base, BITS.leastNormal), a.equal('u32', base, k.u(BITS.infinity))];
  const isLimit = k.either(
    k.either(isZero, isInfinite),
    k.both(a.equal('u32', exponent, k.u(BITS.infinity)), k.not(a.equal('u32', base, k.u(BITS.one)))),
  );
  const grows = k.not(a.xor('bool', k.above(base, BITS.one), k.not(k.hasSign(yBits))));
  const limit = k.choose(grows, k.u(BITS.infinity), k.u(0));
  const magnitude = k.choose(isLimit, limit, finite);
  const signed = k.or(magnitude, k.choose(k.both(negative, isOdd), k.u(BITS.sign), k.u(0)));
  const isInvalid = k.both(k.both(negative, k.not(isInteger)), k.both(k.not(isZero), k.below(base, BITS.infinity)));
  const hasNan = k.either(k.above(base, BITS.infinity), k.above(exponent, BITS.infinity));
  const real = k.choose(k.either(isInvalid, hasNan), k.u(BITS.nan), signed);
  const isOne = k.either(k.below(exponent, BITS.leastNormal), a.equal('u32', xBits, k.u(BITS.one)));
  return k.float(k.choose(isOne, k.u(BITS.one), real));
}

/** log2 of a positive normal number. */
function log2Pair<V>(k: Terms<V>, bits: V): Pair<V> {
  const { exponent, f } = logReduce(k, bits);
  const leadingF = k.leading(f);
  const square = k.mul(k.times(leadingF, 0.5), leadingF);
  const ln = k.leading(k.sub(f, square));
  const squareRest = k.mul(k.times(k.sub(f, leadingF), 0.5), k.add(f, leadingF));
  const cube = k.mul(k.mul(k.mul(f, f), f), log1pTail(k, f));
  // In this order: Mesa's compiler regroups (hi - a) + (lo - b), and then the exact difference is lost.
  const lnRest = k.add(k.sub(k.sub(k.sub(f, ln), square), squareRest), cube);
  const product = k.times(ln, LOG2_E_HI);
  const hi = k.leading(k.add(exponent, product));
  const rest = k.add(k.times(ln, LOG2_E_LO), k.times(lnRest, LOG2_E));
  return { hi, lo: k.add(k.add(k.sub(exponent, hi), product), rest) };
}

/** Bits of 2^(log2 times). */
function power<V>(k: Terms<V>, log2: Pair<V>, times: V): V {
  const { a } = k;
  const leadingTimes = k.leading(times);
  const product = k.mul(leadingTimes, log2.hi);
  const rest = k.add(k.mul(times, log2.lo), k.mul(k.sub(times, leadingTimes), log2.hi));
  const n = a.roundEven(k.atMost(k.atLeast(k.add(product, rest), -150), 128));
  const r = k.atMost(k.atLeast(k.add(k.sub(product, n), rest), -0.75), 0.75);
  return scaleByPower(k, k.plus(expm1Reduced(k, k.times(r, LN2)), 1), a.toInteger('i32', n));
}
