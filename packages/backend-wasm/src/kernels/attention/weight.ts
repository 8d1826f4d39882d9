import { i32x4 } from '../../encoder/index.ts';
import { type Vector, VectorTerms } from '../arithmetic/vector-terms.ts';
import type { WasmArithmetic } from '../arithmetic/wasm-arithmetic.ts';

/** At it and below e^x is 0, rounded to nearest. */
const LEAST = -104;
/** ln 2 in two parts: the first has 9 bits, so that its product with an exponent is exact (Cody and Waite). */
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
/** Exponents are raised by this, so that subnormal weights are normal: the scale is removed at the end, with one rounding. */
const RAISED = 64;
/** Adding it rounds to an integer, which is then in the lower bits with the bias of exponents. */
const ROUNDER = 1.5 * 2 ** 23 + 127 + RAISED;
/** (e^r - 1 - r) / r^2, the constant coefficient first: minimax (Lawson's iteration, 4001 Chebyshev points). */
const P = [0.49999994, 0.1666652, 0.041668393, 0.008368781, 0.0013814467];

/**
 * The weight of a score that is x above the largest one: e^x for x <= 0, NaN for NaN. Largest error found: 0.8 ulp and the
 * rounding of n ln 2; the contract grants 3 + 2|x|.
 */
export function weightOf(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  // In this order a NaN stays.
  const limited = k.atLeast(x, LEAST);
  const shifted = k.plus(k.times(limited, Math.LOG2E), ROUNDER);
  const n = k.sub(shifted, k.f(ROUNDER));
  const r = k.sub(k.sub(limited, k.times(n, LN2_HI)), k.times(n, LN2_LO));
  const square = k.mul(r, r);
  const power = k.add(k.mul(k.powers(r, P, square), square), k.plus(r, 1));
  return k.times(k.mul(power, a.keep(i32x4.shl(shifted, 23))), 2 ** -RAISED);
}
