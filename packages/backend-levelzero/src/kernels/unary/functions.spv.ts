import type { UnaryOp } from '@concord/backend-core';
import type { ElementFunction } from '../elementwise.spv.ts';
import { exp } from '../functions/exp.spv.ts';
import { gelu } from '../functions/gelu.spv.ts';
import { log } from '../functions/log.spv.ts';
import { sigmoid, silu } from '../functions/sigmoid.spv.ts';
import { tanh } from '../functions/tanh.spv.ts';

/**
 * What each unary op does to one element. NaN gives NaN, other special values as C99 Annex F. Method and error of the
 * hard ones are described in their files; OpenCL promises 3 ulp of sqrt, which is what the contract asks for.
 */
export const UNARY_FUNCTIONS: Readonly<Record<UnaryOp, ElementFunction>> = {
  // A comparison with NaN is false, and keeps it.
  relu: (k, x) => k.select(k.le(x, 0), k.constant(x.type, 0), x),
  sigmoid,
  tanh,
  exp,
  log,
  sqrt: (k, x) => k.math('sqrt', x),
  abs: (k, x) => k.math('fabs', x),
  neg: (k, x) => k.neg(x),
  gelu,
  silu,
};
