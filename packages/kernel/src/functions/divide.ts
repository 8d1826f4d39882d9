import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, bitsOfFloat, Terms } from './terms.ts';

/** Bits of 2^126: the reciprocal of a larger number is subnormal. */
const LARGE = bitsOfFloat(2 ** 126);
const DOWN = 2 ** -64;

/**
 * The quotient. WGSL promises 2.5 ulp for divisors between 2^-126 and 2^126 only, and compilers may make a product with a
 * reciprocal, which for larger divisors is subnormal and flushed. So a larger divisor is scaled down, and the quotient
 * with it. Of zeros, infinities and NaN the device divides nothing: the dividend times a factor that has the divisor's sign
 * gives what IEEE 754 says, if the factor is infinite for 0 and 0 for an infinity. Grant: 3 ulp. A subnormal divisor counts
 * as 0.
 *
 * What depends on the divisor alone costs nothing where many are divided by one. Divisor and factor are opaque: compilers
 * regroup factors, and know the quotient of equals.
 */
export function divide<V>(a: Arithmetic<V>, x: V, y: V): V {
  const k = new Terms(a);
  const divisor = k.bits(y);
  const size = k.magnitude(divisor);
  const isZero = k.below(size, BITS.leastNormal);
  const isFinite = k.below(size, BITS.infinity);
  const isLarge = k.above(size, LARGE);
  const scale = k.choose(isLarge, k.u(bitsOfFloat(DOWN)), k.u(BITS.one));
  const beyond = k.choose(k.isNan(divisor), k.u(BITS.nan), k.u(0));
  const factor = k.choose(isZero, k.u(BITS.infinity), k.choose(isFinite, scale, beyond));
  const signed = a.opaque(k.float(k.or(factor, k.and(divisor, BITS.sign))));
  const scaled = a.opaque(k.mul(k.float(size), k.float(scale)));

  const isOrdinary = k.both(isFinite, k.not(isZero));
  const specials = k.choose(isOrdinary, k.u(BITS.infinity), k.u(0));
  const dividend = k.bits(x);
  const isSpecial = a.lessOrEqual('u32', specials, k.magnitude(dividend));
  const quotient = k.choose(isSpecial, dividend, k.bits(a.divide(x, scaled)));
  return k.mul(k.float(quotient), signed);
}
