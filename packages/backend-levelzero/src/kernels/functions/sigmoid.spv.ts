/**
 * The logistic function of 32-bit floats, scalars or vectors, by itself and times x. 1 / (1 + e^-x) for x >= 0 and e^x
 * / (1 + e^x) below: the exponential of -|x| alone, which never overflows, and a denominator between 1 and 2.
 *
 * Where e^x is subnormal, x e^x may be a normal number, so the power of two of e^x is multiplied in last. Beyond |x| =
 * 120 x e^x is 0, also at -infinity.
 */
import type { FunctionBuilder, Value } from '@concord/spirv-builder';
import { expScaled, scaled } from './exp.spv.ts';
import { atMost } from './float-bits.ts';

const LIMIT = 120;

/** 1 / (1 + e^-x). */
export function sigmoid(k: FunctionBuilder, x: Value): Value {
  const decay = scaled(k, expScaled(k, k.neg(magnitude(k, x))));
  return k.div(k.select(k.lt(x, 0), decay, k.constant(x.type, 1)), k.add(decay, 1));
}

/** x / (1 + e^-x). */
export function silu(k: FunctionBuilder, x: Value): Value {
  const limited = k.neg(magnitude(k, x));
  const decay = expScaled(k, limited);
  const below = scaled(k, { value: k.mul(limited, decay.value), power: decay.power });
  return k.div(k.select(k.lt(x, 0), below, x), k.add(scaled(k, decay), 1));
}

function magnitude(k: FunctionBuilder, x: Value): Value {
  return atMost(k, k.math('fabs', x), LIMIT);
}
