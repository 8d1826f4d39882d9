/**
 * The exact GELU of 32-bit floats, scalars or vectors. x Phi(x) = -|x| Q(|x|) for x < 0 and x (1 - Q(x)) for x >= 0,
 * with Q(t) = erfc(t / sqrt 2) / 2 the upper tail of the normal distribution, at most 1/2, so that nothing cancels.
 *
 * Q(t) = e^(-t^2/2) s(t). s falls slowly, from 1/2 at 0 to about 0.4 / t far out: c p(t c) with c = 1 / (t + 7/2), as
 * in Shepherd and Laframboise, Chebyshev approximation of (1 + 2x) exp(x^2) erfc x, Mathematics of Computation 36
 * (1981). p is the minimax polynomial of the WebGPU backend: degree 9, fitted for the relative error by linear
 * programming, error 7.7e-9, 0.07 ulp.
 *
 * The square is taken in two parts, its rounded value and the rest, because the exponential multiplies an error by
 * x^2/2; and the power of two is multiplied in last, because x Q is still a normal number where Q is not any more.
 * Beyond |x| = 15 x Q is 0, also at -infinity.
 *
 * OpenCL's erfc has the accuracy too, but PoCL works it out one component after the other: six times slower than all of
 * this.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { expScaled, scaled } from './exp.spv.ts';
import { atMost } from './float-bits.ts';
import { polynomial } from './polynomial.ts';

const LIMIT = 15;
const P: readonly number[] = [
  1.75, -3.1370444, 2.69472, -0.7110123, -0.47707924, 0.17677017, 0.17665102, 0.017558064, -0.14862461, 0.0570496,
];

/** x Phi(x). */
export function gelu(k: FunctionBuilder, x: Value): Value {
  const t = atMost(k, k.math('fabs', x), LIMIT);
  const square = k.mul(t, t);
  const rest = k.fma(t, t, k.neg(square));
  const { value, power } = expScaled(k, k.mul(square, -0.5), k.mul(rest, -0.5));
  const tail = k.mul(normalTailScaled(k, t), value);
  const upper = k.mul(x, k.sub(1, scaled(k, { value: tail, power })));
  const lower = scaled(k, { value: k.mul(k.neg(t), tail), power });
  return k.select(k.lt(x, 0), lower, upper);
}

/** e^(t^2/2) Q(t) for t from 0 to 15. */
function normalTailScaled(k: FunctionBuilder, t: Value): Value {
  const c = k.div(1, k.add(t, 3.5));
  return k.mul(c, polynomial(k, k.mul(t, c), P));
}
