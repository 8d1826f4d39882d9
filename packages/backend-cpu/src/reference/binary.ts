import type { BinaryOp } from '@concord/backend-core';
import type { Values } from './result.ts';

const FUNCTIONS: Readonly<Record<BinaryOp, (x: number, y: number) => number>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  max: Math.max,
  min: Math.min,
  pow: powC99,
};

/** `pow` of C99 Annex F, from which ECMAScript differs where the base is 1 or -1 and the exponent NaN or infinite. */
function powC99(x: number, y: number): number {
  if (x === 1) return 1;
  if (x === -1 && Math.abs(y) === Infinity) return 1;
  return x ** y;
}

/** One element of `binary`. */
export function binaryFunction(op: BinaryOp): (x: number, y: number) => number {
  return FUNCTIONS[op];
}

/** `op(a[i], b[i])` for every i, in float64. */
export function binaryReference(op: BinaryOp, a: Values, b: Values): Float64Array {
  return Float64Array.from(a, (x, i) => FUNCTIONS[op](x, b[i] as number));
}
