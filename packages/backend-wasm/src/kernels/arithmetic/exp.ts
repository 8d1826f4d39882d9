import { i32x4 } from '../../encoder/index.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

const LOG2_E = Math.LOG2E;
/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
/** Adding it rounds to an integer, which is then in the lower bits. */
const ROUNDER = 1.5 * 2 ** 23;
/** (e^r - 1 - r) / r^2, the constant coefficient first: Moshier's Cephes, `expf`. */
const P = [5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.39819995e-3, 1.98756915e-4];

/** The x below which e^x is 0; above the other it is infinite; both with room to spare. */
const LEAST = -104;
const MOST = 89;
/** The first bit of the exponent's field. */
const EXPONENT = 23;
const BIAS = 127;

/** e^x = 2^n e^r of any float32, NaN and infinities too. Largest error found: 1.3 ulp; grant: 3 + 2|x|. */
export function exp(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const limited = k.atMost(k.atLeast(x, LEAST), MOST);
  const shifted = k.plus(k.times(limited, LOG2_E), ROUNDER + 2 * BIAS);
  const n = k.sub(shifted, k.f(ROUNDER + 2 * BIAS));
  const r = k.sub(k.sub(limited, k.times(n, LN2_HI)), k.times(n, LN2_LO));
  const square = k.mul(r, r);
  const power = k.add(k.mul(k.powers(r, P, square), square), k.plus(r, 1));
  return scaleByHalves(k, power, shifted);
}

/** (2^f - 1) / f: minimax for |f| <= 0.5005, by Lawson's iteration, rounded one after the other; error 0.8 ulp. */
const POWER = [0.693147, 0.24022245, 0.05550711, 0.009671395, 0.0013269595];

/**
 * 2^64 2^x of x between -163 and 0, or NaN: with the factor no result is subnormal. Within 1.5 ulp, plus the rounding of the
 * argument: for functions whose error bound allows for that, in fewer operations than {@link exp}.
 */
export function raisedPower(k: VectorTerms, x: Vector): Vector {
  const shifted = k.plus(x, ROUNDER + BIAS + 64);
  const f = k.sub(x, k.sub(shifted, k.f(ROUNDER + BIAS + 64)));
  const power = k.plus(k.mul(f, k.powers(f, POWER)), 1);
  return k.mul(power, k.a.keep(i32x4.shl(shifted, EXPONENT)));
}

/**
 * A number between 1/2 and 2 times 2^n, for n from -252 to 254, of which the lower bits have n + 254: in two factors that are
 * normal, so that a subnormal result is rounded once.
 */
export function scaleByHalves(k: VectorTerms, value: Vector, bits: Vector): Vector {
  const { a } = k;
  const half = a.keep(i32x4.shrS(bits, 1));
  const rest = a.sub('i32', bits, half);
  return k.mul(k.mul(value, a.keep(i32x4.shl(half, EXPONENT))), a.keep(i32x4.shl(rest, EXPONENT)));
}
