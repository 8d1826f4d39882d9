import type { UnaryOp } from '@concord/backend-core';
import type { Values } from './result.ts';
import { FLOAT_FUNCTIONS } from './run/functions.ts';

/** Each function by its definition, in float64. */
const FUNCTIONS: Readonly<Record<UnaryOp, (x: number) => number>> = {
  // Math.max, unlike a comparison, keeps NaN.
  relu: (x) => Math.max(x, 0),
  abs: Math.abs,
  neg: (x) => -x,
  sigmoid: FLOAT_FUNCTIONS.sigmoid.of,
  tanh: FLOAT_FUNCTIONS.tanh.of,
  exp: FLOAT_FUNCTIONS.exp.of,
  log: FLOAT_FUNCTIONS.log.of,
  sqrt: FLOAT_FUNCTIONS.sqrt.of,
  gelu: FLOAT_FUNCTIONS.gelu.of,
  silu: FLOAT_FUNCTIONS.silu.of,
};

/** One element of `unary`. */
export function unaryFunction(op: UnaryOp): (x: number) => number {
  return FUNCTIONS[op];
}

/** `op(input[i])` for every i, in float64. */
export function unaryReference(op: UnaryOp, input: Values): Float64Array {
  return Float64Array.from(input, FUNCTIONS[op]);
}
