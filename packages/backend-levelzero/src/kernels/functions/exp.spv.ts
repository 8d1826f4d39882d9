/**
 * The exponential of 32-bit floats, scalars or vectors. With k the integer nearest to x / ln 2 and r = x - k ln 2, so
 * |r| <= ln(2) / 2: e^x = 2^k e^r (Cody and Waite, Software Manual for the Elementary Functions, chapter 6). ln 2 is
 * split in two, the first part short enough that its product with k is exact.
 *
 * e^r - 1 = r + r^2 q(r), where q is the minimax polynomial of the WebGPU backend: degree 5, fitted for the relative
 * error of e^r - 1 on |r| <= 0.3468 by linear programming, error 4.4e-10, 0.004 ulp.
 *
 * OpenCL's own exp is as exact and, as PoCL has it, no faster; this one leaves 2^k apart, which the functions that
 * multiply the exponential need, and is the same on every device.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { atLeast, atMost, bitsOf, bitsType, EXPONENT_BIAS, MANTISSA_BITS } from './float-bits.ts';
import { polynomial } from './polynomial.ts';

const LOG2_E = 1.44269504;
const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
const Q: readonly number[] = [0.5, 0.16666666, 0.041666493, 0.008333546, 0.0013932325, 0.00019761805];

/** Adding it to a float rounds that to an integer, which is then in the lower bits. */
const ROUNDER = 1.5 * 2 ** MANTISSA_BITS;

/** A number times a power of two that is still to be multiplied in: `value * 2^power`. */
export interface Scaled {
  readonly value: Value;
  /** Integers, as many as `value` has components. */
  readonly power: Value;
}

/** Integers, as floats and as integers. */
export interface Rounded {
  readonly float: Value;
  readonly integer: Value;
}

/** The integer nearest to x * factor; |x * factor| < 2^22. Anything for NaN, but for `float`, which stays NaN. */
export function roundedProduct(k: FunctionBuilder, x: Value, factor: number): Rounded {
  const shifted = k.fma(x, factor, ROUNDER);
  const integer = k.sub(bitsOf(k, shifted), k.bitcast(k.constant(x.type, ROUNDER), bitsType(k, x)));
  return { float: k.sub(shifted, ROUNDER), integer };
}

/** e^r - 1 for |r| <= 0.3468. */
export function expm1Reduced(k: FunctionBuilder, r: Value): Value {
  return k.fma(k.mul(r, r), polynomial(k, r, Q), r);
}

/** x - n ln 2. */
export function lessLn2(k: FunctionBuilder, x: Value, n: Value): Value {
  return k.fma(n, -LN2_LO, k.fma(n, -LN2_HI, x));
}

/** e^(x + rest), with a value between 0.7 and 1.42. For |x| <= 1024 and a rest that is small beside it. */
export function expScaled(k: FunctionBuilder, x: Value, rest?: Value): Scaled {
  const n = roundedProduct(k, x, LOG2_E);
  const r = lessLn2(k, x, n.float);
  return { value: k.add(expm1Reduced(k, rest === undefined ? r : k.add(r, rest)), 1), power: n.integer };
}

/** 2^power for integers from -126 to 127. */
export function powerOfTwo(k: FunctionBuilder, power: Value, like: Value): Value {
  return k.bitcast(k.shl(k.add(power, EXPONENT_BIAS), MANTISSA_BITS), like.type);
}

/**
 * value * 2^power with one rounding, for |power| <= 250 and a value not far from 1: infinite where it overflows, and
 * subnormal as the device has them. In two steps, since 2^power itself may be out of range.
 */
export function scaled(k: FunctionBuilder, { value, power }: Scaled): Value {
  const half = k.ashr(power, 1);
  return k.mul(k.mul(value, powerOfTwo(k, half, value)), powerOfTwo(k, k.sub(power, half), value));
}

/** e^x. */
export function exp(k: FunctionBuilder, x: Value): Value {
  // Outside of these limits the result is 0 or infinite.
  return scaled(k, expScaled(k, atMost(k, atLeast(k, x, -105), 90)));
}
