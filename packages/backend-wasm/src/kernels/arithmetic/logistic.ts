import { expOfNegative } from './exp.ts';
import { type Vector, VectorTerms } from './vector-terms.ts';
import type { WasmArithmetic } from './wasm-arithmetic.ts';

// Functions that lean on an exponential of what is not positive. Subnormal results are right, NaN passes through.

const DOWN = 2 ** -64;

/**
 * The logistic function: 1 / (1 + e^-x) for x >= 0 and e^x / (1 + e^x) below. Grant: 8 + 2|x| ulp, of which the exponential has
 * 3 + 2|x|.
 */
export function sigmoid(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const e = k.times(expOfNegative(k, k.atLeast(k.negated(x), -104)), DOWN);
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
  const raised = expOfNegative(k, w);
  const isNegative = k.isNegative(x);
  const numerator = k.select(isNegative, k.mul(limited, raised), x);
  const quotient = k.a.divide(numerator, k.plus(k.times(raised, DOWN), 1));
  return k.mul(quotient, k.select(isNegative, k.f(DOWN), k.f(1)));
}

/** t e^(t^2/2) Q(t) / v in v = t / (7t/8 + 31/16): the kernel package's. */
const TAIL = [
  0.96874994, -0.6499296, -0.060887866, 0.1087929, 0.05532035, -0.008085427, 0.0127017, -0.051797412, 0.022437803,
];

/**
 * The exact GELU, max(x, 0) - |x| Q(|x|) with Q the upper tail of the normal distribution, by the formula of the kernel
 * package. Grant: 16 + 2 x^2, of which the exponential has 3 + x^2 and the rounding of the square x^2 / 2.
 */
export function gelu(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const t = k.atMost(a.abs('f32', x), 15);
  const v = a.divide(t, k.plus(k.times(t, 0.875), 1.9375));
  const raised = expOfNegative(k, k.mul(k.times(t, -0.5), t));
  const lower = k.mul(k.mul(v, k.powers(v, TAIL)), k.times(raised, DOWN));
  return k.sub(k.atLeast(x, 0), lower);
}

/** Beyond it the quotient is 1 but for a few ulp. */
const TANH_MOST = 7.90531110763549805;
/** Below it tanh x is x. */
const TANH_LEAST = 0.0004;
const NUMERATOR = [
  4.89352455891786e-3, 6.37261928875436e-4, 1.48572235717979e-5, 5.12229709037114e-8, -8.60467152213735e-11,
  2.00018790482477e-13, -2.76076847742355e-16,
];
const DENOMINATOR = [4.89352518554385e-3, 2.268434632439e-3, 1.18534705686654e-4, 1.19825839466702e-6];

/** The hyperbolic tangent, x p(x^2) / q(x^2): the coefficients are Eigen's (`ptanh_float`). Largest error found: 5.3 ulp; grant: 8. */
export function tanh(a: WasmArithmetic, x: Vector): Vector {
  const k = new VectorTerms(a);
  const limited = k.atMost(k.atLeast(x, -TANH_MOST), TANH_MOST);
  const square = k.mul(limited, limited);
  const fourth = k.mul(square, square);
  const numerator = k.mul(limited, k.powers(square, NUMERATOR, fourth));
  const quotient = a.divide(numerator, k.powers(square, DENOMINATOR, fourth));
  return k.select(k.isSmall(x, TANH_LEAST), x, quotient);
}
