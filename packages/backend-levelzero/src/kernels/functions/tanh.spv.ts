/**
 * The hyperbolic tangent of 32-bit floats, scalars or vectors. With d = e^(2|x|) - 1: tanh |x| = d / (d + 2), in one
 * formula for all x. d is put together from the reduced exponential, d = 2^k (e^r - 1) + (2^k - 1), so nothing cancels
 * near 0. From 10 on it is 1.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { expm1Reduced, lessLn2, powerOfTwo, roundedProduct } from './exp.spv.ts';
import { atMost, withSignOf } from './float-bits.ts';

const LIMIT = 10;
const LOG2_E = 1.44269504;

/** tanh x. */
export function tanh(k: FunctionBuilder, x: Value): Value {
  const doubled = k.mul(atMost(k, k.math('fabs', x), LIMIT), 2);
  const n = roundedProduct(k, doubled, LOG2_E);
  const power = powerOfTwo(k, n.integer, x);
  const d = k.fma(power, expm1Reduced(k, lessLn2(k, doubled, n.float)), k.sub(power, 1));
  return withSignOf(k, k.div(d, k.add(d, 2)), x);
}
