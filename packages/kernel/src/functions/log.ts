import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
const LOG2_E = 1.44269504;
const SQRT_HALF = 0x3f35_04f3;

/** (log(1 + f) - f + f^2/2) / f^3. */
const P: readonly number[] = [
  0.33333313, -0.2500001, 0.20002072, -0.16667987, 0.14220354, -0.12406268, 0.11883647, -0.11669924, 0.06748783,
];

/** x = 2^exponent (1 + f), with 1 + f between sqrt(1/2) and sqrt(2); both float32. */
export interface Logarithm<V> {
  readonly exponent: V;
  readonly f: V;
}

/** Takes the bits of a positive normal number apart. */
export function logReduce<V>(k: Terms<V>, bits: V): Logarithm<V> {
  const { a } = k;
  const above = a.sub('i32', a.bitcast('u32', 'i32', bits), k.i(SQRT_HALF));
  const fraction = a.add('i32', a.and('i32', above, k.i(BITS.fraction)), k.i(SQRT_HALF));
  return {
    exponent: a.toFloat('i32', a.shiftRight('i32', above, k.u(23))),
    f: k.plus(a.bitcast('i32', 'f32', fraction), -1),
  };
}

/**
 * (log(1 + f) - f + f^2/2) / f^3, a minimax polynomial of degree 8 for the relative error of log(1 + f) between sqrt(1/2)
 * and sqrt(2), fitted by linear programming at 1,500 Chebyshev points; the coefficients were rounded to float32 one after
 * the other, from the lowest, and the others fitted anew. Its error is 7.7e-10, 0.007 ulp.
 */
export function log1pTail<V>(k: Terms<V>, f: V): V {
  return k.polynomial(f, P);
}

/** log(1 + f) less f: small beside it. */
function log1pRest<V>(k: Terms<V>, f: V): V {
  const square = k.mul(f, f);
  return k.sub(k.mul(k.mul(f, square), log1pTail(k, f)), k.times(square, 0.5));
}

/** The result for a positive normal number, with the limits, and NaN for what has a sign. */
function withSpecials<V>(k: Terms<V>, bits: V, value: V): V {
  const isSpecial = k.atLeastBits(bits, BITS.infinity);
  // Above the bits of infinity are the NaNs and everything with a sign.
  const special = k.choose(k.above(bits, BITS.infinity), k.u(BITS.nan), k.u(BITS.infinity));
  const some = k.choose(isSpecial, special, k.bits(value));
  return k.float(k.choose(k.below(k.magnitude(bits), BITS.leastNormal), k.u(BITS.sign | BITS.infinity), some));
}

/**
 * The natural logarithm. With x = 2^e (1 + f): log x = e ln 2 + log(1 + f), and log(1 + f) = f - f^2/2 + f^3 p(f). That f is
 * exact makes x near 1 as good as any other. The form is that of Moshier's Cephes (`logf`). Largest error found: 0.8
 * ulp, where a device truncates 1.2; grant: 4. A subnormal x counts as 0.
 */
export function log<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { exponent, f } = logReduce(k, bits);
  const square = k.mul(f, f);
  const tail = k.add(k.mul(k.mul(f, square), log1pTail(k, f)), k.times(exponent, LN2_LO));
  const small = k.sub(tail, k.times(square, 0.5));
  return withSpecials(k, bits, k.add(k.times(exponent, LN2_HI), k.add(f, small)));
}

/** The logarithm to base 2: e + log(1 + f) log2 e. Largest error found: 1.6 ulp, where a device truncates 2.7; grant: 6. */
export function log2<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(x);
  const { exponent, f } = logReduce(k, bits);
  const ln = k.add(f, log1pRest(k, f));
  return withSpecials(k, bits, k.add(exponent, k.times(ln, LOG2_E)));
}

/**
 * log(1 + x). Where 1 + x lies between sqrt(1/2) and sqrt(2), f is x itself, nothing being lost by the addition; elsewhere
 * the logarithm is so large that the rounding of 1 + x does not matter. Largest error found: 2.4 ulp, also where a device
 * truncates; grant: 8.
 */
export function log1p<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const operand = k.bits(x);
  const sum = k.plus(x, 1);
  const bits = k.bits(sum);
  const reduced = logReduce(k, bits);
  const isNear = k.both(k.less(k.f(-0.2928932), x), k.less(x, k.f(0.4142135)));
  const exponent = k.select(isNear, k.f(0), reduced.exponent);
  const f = k.select(isNear, x, reduced.f);
  const small = k.add(log1pRest(k, f), k.times(exponent, LN2_LO));
  const value = k.bits(k.add(k.times(exponent, LN2_HI), k.add(f, small)));

  const magnitude = k.magnitude(operand);
  const isNegative = k.hasSign(operand);
  const isPole = a.equal('u32', operand, k.u(BITS.sign | BITS.one));
  const isInvalid = k.either(k.above(magnitude, BITS.infinity), k.both(isNegative, k.above(magnitude, BITS.one)));
  const some = k.choose(k.atLeastBits(magnitude, BITS.infinity), k.u(BITS.infinity), value);
  const limited = k.choose(isPole, k.u(BITS.sign | BITS.infinity), some);
  return k.float(k.choose(isInvalid, k.u(BITS.nan), limited));
}
