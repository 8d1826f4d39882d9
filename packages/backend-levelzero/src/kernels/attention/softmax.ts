import type { FunctionBuilder, Value } from '@concord/spirv-builder';

/**
 * The start value of a row's largest score: the lowest finite number. So scores of -Infinity never meet
 * -Infinity - -Infinity; where there are no others, the weights and their sum are 0, and the quotient is NaN.
 */
export const LOWEST = -3.4028234663852886e38;

/** Below, the exponential is less than the smallest normal number, and 0 here. */
const MIN_EXPONENT = -87.3365;
/** 1.5 * 2^23: a float of this size has no fraction, and its low bits count ones. */
const ROUNDER = 12582912;
/** ln 2 in two parts. */
const LN2_HI = 0.693145751953125;
const LN2_LO = 1.428606820309417e-6;
const ONE_BITS = 0x3f800000;
/** Of q in e^r - 1 = r + r^2 q(r), from the highest; minimax on |r| <= 0.3468, error 0.004 ulp (as in the WebGPU backend). */
const EXP_COEFFICIENTS = [0.00019761805, 0.0013932325, 0.008333546, 0.041666493, 0.16666666, 0.5];

/**
 * e^x for x <= 0 or NaN, of floats or vectors of them, within 1 ulp: x = n ln 2 + r (Cody and Waite, Software Manual for
 * the Elementary Functions, chapter 6). NaN gives NaN. In instructions that every device has for vectors.
 */
export function exponential(k: FunctionBuilder, x: Value): Value {
  const isVector = x.type.kind === 'vector';
  const bitsType = isVector ? k.types.vector(k.types.int(32), x.type.count) : k.types.int(32);
  const rounded = k.fma(x, Math.LOG2E, k.constant(x.type, ROUNDER));
  const n = k.sub(rounded, ROUNDER);
  const r = k.fma(n, -LN2_LO, k.fma(n, -LN2_HI, x));
  const [highest, ...others] = EXP_COEFFICIENTS;
  const q = others.reduce(
    (sum, next) => k.fma(sum, r, k.constant(x.type, next)),
    k.constant(x.type, highest as number),
  );
  const fraction = k.add(k.fma(k.mul(r, r), q, r), 1);
  // 2^n, from the low bits of what was rounded; they are any for NaN, which survives the product.
  const power = k.bitcast(k.add(k.shl(k.bitcast(rounded, bitsType), 23), ONE_BITS), x.type);
  return k.select(k.lt(x, MIN_EXPONENT), 0, k.mul(fraction, power));
}

/** The larger; where one is NaN, either: its exponential is NaN whatever the largest. */
export function larger(k: FunctionBuilder, a: Value, b: Value): Value {
  return k.select(k.gt(b, a), b, a);
}
