import { BITS, type Terms } from './terms.ts';

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
