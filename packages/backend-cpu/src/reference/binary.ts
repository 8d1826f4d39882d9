import type { BinaryOp } from '@concord/backend-core';
import type { Values } from './result.ts';
import { powC99 } from './run/functions.ts';

const FUNCTIONS: Readonly<Record<BinaryOp, (x: number, y: number) => number>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  max: Math.max,
  min: Math.min,
  pow: powC99,
};

/** One element of `binary`. */
export function binaryFunction(op: BinaryOp): (x: number, y: number) => number {
  return FUNCTIONS[op];
}

/** `op(a[i], b[i])` for every i, in float64. */
export function binaryReference(op: BinaryOp, a: Values, b: Values): Float64Array {
  return Float64Array.from(a, (x, i) => FUNCTIONS[op](x, b[i] as number));
}
