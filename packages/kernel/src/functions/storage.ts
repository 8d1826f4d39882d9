import type { Arithmetic } from '../arithmetic/arithmetic.ts';
import { BITS, Terms } from './terms.ts';

/** The smallest float32 that is a normal binary16. */
const MIN_NORMAL_F16 = 0x3880_0000;
/** The bits from which on a float32 rounds to the infinity of binary16: those of 65520. */
const INFINITE_F16 = 0x477f_f000;
/** Difference of the exponents' biases, in place. */
const REBIAS = 0x3800_0000;

/** The 16 bits of a binary16, a u32, as a float32; exact, NaN with what it carries. */
export function fromF16<V>(a: Arithmetic<V>, half: V): V {
  const k = new Terms(a);
  const magnitude = k.and(half, 0x7fff);
  const shifted = a.shiftLeft('u32', magnitude, k.u(13));
  const isFinite = k.below(magnitude, 0x7c00);
  const normal = a.add('u32', shifted, k.choose(isFinite, k.u(REBIAS), k.u(2 * REBIAS)));
  const subnormal = k.bits(k.times(a.toFloat('u32', magnitude), 2 ** -24));
  const value = k.choose(k.below(magnitude, 0x400), subnormal, normal);
  return k.float(k.or(value, a.shiftLeft('u32', k.and(half, 0x8000), k.u(16))));
}

/**
 * A float32 rounded to binary16, to nearest even: its 16 bits, a u32. From 65520 on infinite, subnormals kept, NaN stays NaN
 * with the bits for which there is room.
 */
export function toF16<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(a.opaque(x));
  const magnitude = k.magnitude(bits);
  const normal = roundedDown(k, a.sub('u32', magnitude, k.u(REBIAS)), 13);
  // Subnormal: a number of units of 2^-24.
  const small = k.float(a.min('u32', magnitude, k.u(MIN_NORMAL_F16)));
  const subnormal = a.toInteger('u32', a.roundEven(k.times(small, 2 ** 24)));
  const finite = k.choose(k.below(magnitude, MIN_NORMAL_F16), subnormal, normal);
  const limited = k.choose(k.below(magnitude, INFINITE_F16), finite, k.u(0x7c00));
  const value = k.choose(k.above(magnitude, BITS.infinity), nanBits(k, magnitude, 13, 0x7c00, 0x200), limited);
  return k.or(value, k.and(a.shiftRight('u32', bits, k.u(16)), 0x8000));
}

/** The 16 bits of a bfloat16, a u32, as a float32; exact. */
export function fromBf16<V>(a: Arithmetic<V>, bits: V): V {
  const k = new Terms(a);
  return k.float(a.shiftLeft('u32', bits, k.u(16)));
}

/** A float32 rounded to bfloat16, to nearest even: its 16 bits, a u32. Subnormals are kept, NaN stays NaN. */
export function toBf16<V>(a: Arithmetic<V>, x: V): V {
  const k = new Terms(a);
  const bits = k.bits(a.opaque(x));
  const magnitude = k.magnitude(bits);
  const value = k.choose(
    k.above(magnitude, BITS.infinity),
    nanBits(k, magnitude, 16, 0x7f80, 0x40),
    roundedDown(k, magnitude, 16),
  );
  return k.or(value, k.and(a.shiftRight('u32', bits, k.u(16)), 0x8000));
}

/** A u32 without its lower bits, rounded to nearest even. */
function roundedDown<V>(k: Terms<V>, value: V, bits: number): V {
  const { a } = k;
  const isOdd = k.and(a.shiftRight('u32', value, k.u(bits)), 1);
  const half = a.add('u32', isOdd, k.u(2 ** (bits - 1) - 1));
  return a.shiftRight('u32', a.add('u32', value, half), k.u(bits));
}

/** A NaN with the upper bits of what a float32 NaN carries, which must not be none. */
export function nanBits<V>(k: Terms<V>, magnitude: V, bits: number, infinity: number, quiet: number): V {
  const { a } = k;
  const kept = a.shiftRight('u32', k.and(magnitude, BITS.fraction), k.u(bits));
  const payload = k.choose(a.equal('u32', kept, k.u(0)), k.u(quiet), kept);
  return k.or(payload, k.u(infinity));
}
