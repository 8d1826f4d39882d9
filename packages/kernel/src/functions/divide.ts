import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/**
 * The quotient. WGSL promises 2.5 ulp for divisors between 2^-126 and 2^126 only, and compilers may make a product with a
 * reciprocal of it, which for larger divisors is subnormal and flushed. So the significands are divided, two numbers
 * in [1, 2), and the powers of two are multiplied in, all exact: the larger half of the divisor's, the dividend's, the other
 * half, in which order nothing overflows or vanishes before the result does. Grant: 3 ulp.
 *
 * A dividend's power is 0 or infinite where the dividend is, and so is the second factor of the divisor; their product
 * then is what IEEE 754 says. A subnormal operand counts as 0. What depends on the divisor alone costs nothing where
 * many are divided by one.
 */
export function divide<V>(a: Arithmetic<V>, x: V, y: V): V {
  const k = new Terms(a);
  const [dividend, divisor] = [k.bits(x), k.bits(y)];
  const quotient = a.divide(significand(k, dividend), significand(k, divisor));

  const field = a.bitcast('u32', 'i32', k.and(divisor, BITS.infinity));
  const power = a.sub('i32', k.i(BITS.one), field);
  const towardsZero = a.add('i32', power, a.and('i32', a.shiftRight('i32', power, k.u(31)), k.i(BITS.leastNormal)));
  const second = a.and('i32', a.shiftRight('i32', towardsZero, k.u(1)), k.i(BITS.sign | BITS.infinity));
  const first = a.sub('i32', power, second);
  const limit = a.bitcast('i32', 'u32', a.sub('i32', k.i(BITS.infinity), field));
  const isOrdinary = k.both(k.above(limit, 0), k.below(limit, BITS.infinity));
  const factor = k.choose(isOrdinary, a.bitcast('i32', 'u32', a.add('i32', second, k.i(BITS.one))), limit);
  const lifted = a.add('i32', a.bitcast('f32', 'i32', quotient), first);
  const result = k.mul(a.bitcast('i32', 'f32', lifted), k.float(k.and(dividend, BITS.infinity)));
  // Opaque: compilers regroup products, and of 0 and infinity they may think that they know them.
  const value = k.bits(k.mul(a.opaque(result), a.opaque(k.float(factor))));
  const hasNan = k.either(k.isNan(dividend), k.isNan(divisor));
  return k.float(k.choose(hasNan, k.u(BITS.nan), value));
}

/** A number's significand, in [1, 2), with its sign. */
function significand<V>(k: Terms<V>, bits: V): V {
  return k.float(k.or(k.and(bits, BITS.sign | BITS.fraction), k.u(BITS.one)));
}
