import { raisedPower } from './exp.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

// Functions that use an exponential of an argument that is not positive. Subnormal results are right, NaN passes through.

const DOWN = 2 ** -64;
const LOG2_E = Math.LOG2E;

/**
 * The logistic function: 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) below. Grant: 8 + 2|x| ulp, of which the exponential has
 * 3 + 2|x|.
 */
export function sigmoid(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const e = k.times(raisedPower(k, k.times(k.atLeast(k.negated(x), -104), LOG2_E)), DOWN);
  return a.divide(k.select(k.isNegative(x), e, k.f(1)), k.plus(e, 1));
}

/** x times the logistic function of x. Grant: 8 + 2|x| ulp, of which the exponential has 3 + 2|x|. */
export function silu(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  return timesLogistic(k, x, k.atLeast(x, -112), k.atLeast(k.negated(x), -112));
}

/**
 * x / (1 + e^-2z), with z = sqrt(2 / pi) (x + 0.044715 x^3). Grant: 16 + 10|z| ulp.
 */
export function geluTanh(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const t = k.atLeast(k.negated(x), -12);
  const doubled = k.mul(t, k.plus(k.times(k.mul(t, t), 0.0713548162726), 1.59576912161));
  return timesLogistic(k, x, k.atLeast(x, -12), k.atLeast(doubled, -112));
}

/**
 * x times the logistic function of something with the sign of x.
 *
 * @param limited - x, cut off where the product is 0
 * @param w - minus the magnitude of that something, from -112 on
 */
function timesLogistic(k: VectorTerms, x: Vector, limited: Vector, w: Vector): Vector {
  const raised = raisedPower(k, k.times(w, LOG2_E));
  const isNegative = k.isNegative(x);
  const numerator = k.select(isNegative, k.mul(limited, raised), x);
  const quotient = k.a.divide(numerator, k.plus(k.times(raised, DOWN), 1));
  return k.mul(quotient, k.select(isNegative, k.f(DOWN), k.f(1)));
}

/**
 * 2^-64 t e^(t^2/2) Q(t) / v in v = t / (13t/20 + 5/2): minimax for t up to 15, for the relative error divided by 1 + t^2/8, by
 * Lawson's iteration, rounded one after the other. Error 2 (1 + t^2/8) ulp.
 */
const TAIL = [1.2499998, -1.6808627, 1.1924968, -0.391263, -0.02639648, 0.06162145, -0.014053362].map((c) => c * DOWN);

/**
 * The exact GELU, max(x, 0) - |x| Q(|x|) with Q(t) = erfc(t / sqrt 2) / 2 the upper tail of the normal distribution, of which the
 * exponential is taken off as in the kernel package, which has more digits than are granted. Grant: 16 + 2 x^2, of which
 * the exponential has 3 + x^2 and the rounding of the square x^2 / 2.
 */
export function gelu(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const t = k.atMost(a.abs('f32', x), 15);
  const v = a.divide(t, k.plus(k.times(t, 0.65), 2.5));
  const raised = raisedPower(k, k.times(k.mul(t, t), -0.5 * LOG2_E));
  // The tail last: it is subnormal where x is.
  const lower = k.mul(k.mul(k.powers(v, TAIL), raised), v);
  return k.sub(k.atLeast(x, 0), lower);
}

/** The x from which on the quotient is 1, or more by an ulp. */
const TANH_MOST = 9.1;
/** The x below which tanh x is x. */
const TANH_LEAST = 0.0004;
const NUMERATOR = [
  4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8, -8.60467152213735e-11,
  2.00018790482477e-13, -2.76076847742355e-16,
];
const DENOMINATOR = [4.89352518554385e-3, 2.268434632439e-3, 1.18534705686654e-4, 1.19825839466702e-6];

/** The hyperbolic tangent, x p(x^2) / q(x^2): the coefficients are Eigen's (`ptanh_float`). Largest error found: 6 ulp; grant: 8. */
export function tanh(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const limited = k.atMost(k.atLeast(x, -TANH_MOST), TANH_MOST);
  const square = k.mul(limited, limited);
  const fourth = k.mul(square, square);
  const numerator = k.mul(limited, k.powers(square, NUMERATOR, fourth));
  const quotient = a.divide(numerator, k.powers(square, DENOMINATOR, fourth));
  return k.select(k.isSmall(x, TANH_LEAST), x, k.atMost(k.atLeast(quotient, -1), 1));
}
