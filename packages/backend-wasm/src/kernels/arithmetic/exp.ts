import { f32x4, i32x4 } from '../../encoder/index.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

/** Below it e^x is 0, above the other infinite; both with room to spare. */
const LEAST = -104;
const MOST = 89;
const LOG2_E = Math.LOG2E;
/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
/** Adding it rounds to an integer, which is then in the lower bits. */
const ROUNDER = 1.5 * 2 ** 23;
/** (e^r - 1 - r) / r^2, the constant coefficient first: Moshier's Cephes, `expf`. */
const P = [5.0000001201e-1, 1.6666665459e-1, 4.1665795894e-2, 8.3334519073e-3, 1.39819995e-3, 1.98756915e-4];

/**
 * e^x of any float32, NaN and infinities too: with n the integer nearest to x / ln 2, e^x = 2^n e^r. Largest error found:
 * 1 ulp; grant: 3 + 2|x|.
 */
export function exp(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  // In this order a NaN stays.
  const limited = a.keep(f32x4.pmin(f32x4.pmax(x, k.f(LEAST)), k.f(MOST)));
  const shifted = k.plus(k.times(limited, LOG2_E), ROUNDER);
  const n = k.sub(shifted, k.f(ROUNDER));
  const r = k.sub(k.sub(limited, k.times(n, LN2_HI)), k.times(n, LN2_LO));
  const power = k.plus(k.add(k.mul(k.polynomial(r, P), k.mul(r, r)), r), 1);
  return scaleByPower(k, power, a.keep(i32x4.sub(shifted, k.u(k.bitsOf(ROUNDER)))));
}

/**
 * A number between 1/2 and 2 times 2^n, for integers n from -252 to 254: in two factors that are normal, so that a subnormal
 * result is rounded once.
 */
export function scaleByPower(k: VectorTerms, value: Vector, n: Vector): Vector {
  const { a } = k;
  const half = a.keep(i32x4.shrS(n, 1));
  const factor = (part: Vector): Vector => a.keep(i32x4.shl(i32x4.add(part, k.u(127)), 23));
  return k.mul(k.mul(value, factor(half)), factor(a.sub('i32', n, half)));
}
