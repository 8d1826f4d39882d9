/**
 * The natural logarithm of 32-bit floats, scalars or vectors. With x = 2^e (1 + f) and 1 + f between sqrt(1/2) and
 * sqrt(2): log x = e ln 2 + log(1 + f), and log(1 + f) = f - f^2/2 + f^3 p(f). That f is exact makes x near 1 as good
 * as any other. The form is that of Moshier's Cephes (`logf`), p the minimax polynomial of the WebGPU backend: degree
 * 8, fitted for the relative error of log(1 + f) by linear programming, error 7.7e-10, 0.007 ulp.
 *
 * OpenCL's own log is as exact, but slow where a device has no wide vectors of it.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { bitsOf, LEAST_NORMAL, MANTISSA, MANTISSA_BITS } from './float-bits.ts';
import { polynomial } from './polynomial.ts';

const LN2_HI = 0.693359375;
const LN2_LO = -2.1219444e-4;
const SQRT_HALF_BITS = 0x3f35_04f3;
const P: readonly number[] = [
  0.33333313, -0.2500001, 0.20002072, -0.16667987, 0.14220354, -0.12406268, 0.11883647, -0.11669924, 0.06748783,
];
/** Takes subnormal numbers to normal ones. */
const LIFT_BITS = 24;

/** x = 2^exponent (1 + f). */
export interface Logarithm {
  /** A float. */
  readonly exponent: Value;
  readonly f: Value;
  /** Whether x is 0, or taken for it by a device without subnormals. */
  readonly isZero: Value;
}

/** Takes positive finite numbers apart; of others only `isZero` says something. */
export function logReduce(k: FunctionBuilder, x: Value): Logarithm {
  const isSmall = k.lt(x, LEAST_NORMAL);
  const lifted = k.select(isSmall, k.mul(x, 2 ** LIFT_BITS), x);
  const above = k.sub(bitsOf(k, lifted), SQRT_HALF_BITS);
  const fraction = k.bitcast(k.add(k.and(above, MANTISSA), SQRT_HALF_BITS), x.type);
  const exponent = k.stof(k.ashr(above, MANTISSA_BITS), x.type);
  const lift = k.select(isSmall, k.constant(x.type, LIFT_BITS), k.constant(x.type, 0));
  return { exponent: k.sub(exponent, lift), f: k.sub(fraction, 1), isZero: k.eq(lifted, 0) };
}

/** (log(1 + f) - f + f^2/2) / f^3. */
export function log1pTail(k: FunctionBuilder, f: Value): Value {
  return polynomial(k, f, P);
}

/** log x. */
export function log(k: FunctionBuilder, x: Value): Value {
  const { exponent, f, isZero } = logReduce(k, x);
  const square = k.mul(f, f);
  const small = k.fma(k.mul(f, square), log1pTail(k, f), k.fma(exponent, LN2_LO, k.mul(square, -0.5)));
  const value = k.fma(exponent, LN2_HI, k.add(f, small));
  const isFinite = k.and(k.gt(x, 0), k.lt(x, Infinity));
  const nan = k.constant(x.type, Number.NaN);
  // Infinity and NaN stay what they are.
  const special = k.select(k.lt(x, 0), nan, x);
  return k.select(isZero, k.constant(x.type, -Infinity), k.select(isFinite, value, special));
}
