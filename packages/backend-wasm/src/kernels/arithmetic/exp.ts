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

/** Below it e^x is 0, above the other infinite; both with room to spare. */
const LEAST = -104;
const MOST = 89;
/** Where an exponent's field begins. */
const EXPONENT = 23;
const BIAS = 127;

/** e^x = 2^n e^r, with n the integer nearest to x / ln 2. */
interface Reduced {
  /** A float32 whose lower bits are n and a number that was asked for. */
  readonly shifted: Vector;
  /** e^r. */
  readonly power: Vector;
}

function reduce(k: VectorTerms, x: Vector, added: number): Reduced {
  const shifted = k.plus(k.times(x, LOG2_E), ROUNDER + added);
  const n = k.sub(shifted, k.f(ROUNDER + added));
  const r = k.sub(k.sub(x, k.times(n, LN2_HI)), k.times(n, LN2_LO));
  const square = k.mul(r, r);
  return { shifted, power: k.add(k.mul(k.powers(r, P, square), square), k.plus(r, 1)) };
}

/** e^x of any float32, NaN and infinities too. Largest error found: 1 ulp; grant: 3 + 2|x|. */
export function exp(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const limited = k.atMost(k.atLeast(x, LEAST), MOST);
  const { shifted, power } = reduce(k, limited, 2 * BIAS);
  return scaleByHalves(k, power, shifted);
}

/**
 * 2^64 e^x of x between -113 and 0, or NaN: what is subnormal without the factor is not with it. Largest error found: 1 ulp.
 */
export function expOfNegative(k: VectorTerms, x: Vector): Vector {
  const { shifted, power } = reduce(k, x, BIAS + 64);
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
