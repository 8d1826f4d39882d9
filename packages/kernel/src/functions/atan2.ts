import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, bitsOfFloat, Terms } from './terms.ts';

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
  const turned = a.xor('u32', k.bits(a.opaque(angle)), k.choose(turns, k.u(BITS.sign), k.u(0)));
  const sum = k.bits(a.opaque(k.add(base, k.float(turned))));
  const signed = k.or(sum, k.and(yBits, BITS.sign));
  return k.float(k.choose(k.above(most, BITS.infinity), k.u(BITS.nan), signed));
}
