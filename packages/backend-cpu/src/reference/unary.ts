import type { UnaryOp } from '@concord/backend-core';
import { erfcReference } from './erfc.ts';
import type { Values } from './result.ts';

/** Each function by its definition, in float64. Limits are written out where the formula gives 0 * Infinity. */
const FUNCTIONS: Readonly<Record<UnaryOp, (x: number) => number>> = {
  // Math.max, unlike a comparison, keeps NaN.
  relu: (x) => Math.max(x, 0),
  sigmoid: (x) => 1 / (1 + Math.exp(-x)),
  tanh: Math.tanh,
  exp: Math.exp,
  log: Math.log,
  sqrt: Math.sqrt,
  abs: Math.abs,
  neg: (x) => -x,
  gelu: (x) => (x === -Infinity ? 0 : (x / 2) * erfcReference(-x / Math.SQRT2)),
  silu: (x) => (x === -Infinity ? 0 : x / (1 + Math.exp(-x))),
};

/** One element of `unary`. */
export function unaryFunction(op: UnaryOp): (x: number) => number {
  return FUNCTIONS[op];
}

/** `op(input[i])` for every i, in float64. */
export function unaryReference(op: UnaryOp, input: Values): Float64Array {
  return Float64Array.from(input, FUNCTIONS[op]);
}
