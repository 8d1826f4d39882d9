/**
 * The element-wise functions of two arguments: computed in float64 and rounded once, which for add, sub, mul and div
 * gives the correctly rounded float32. One loop per function; output may be one of the inputs, as element i is read
 * before it is written and never again.
 */

import type { CheckedBinary } from '@concord/backend-core/implement';

/** `output[i] = op(a[i], b[i])` for i in 0..n-1. */
export function binary(call: CheckedBinary, a: Float32Array, b: Float32Array, output: Float32Array): void {
  const { op, n } = call;
  switch (op) {
    case 'add':
      for (let i = 0; i < n; i++) output[i] = (a[i] as number) + (b[i] as number);
      break;
    case 'sub':
      for (let i = 0; i < n; i++) output[i] = (a[i] as number) - (b[i] as number);
      break;
    case 'mul':
      for (let i = 0; i < n; i++) output[i] = (a[i] as number) * (b[i] as number);
      break;
    case 'div':
      for (let i = 0; i < n; i++) output[i] = (a[i] as number) / (b[i] as number);
      break;
    case 'max':
      for (let i = 0; i < n; i++) output[i] = Math.max(a[i] as number, b[i] as number);
      break;
    case 'min':
      for (let i = 0; i < n; i++) output[i] = Math.min(a[i] as number, b[i] as number);
      break;
    case 'pow':
      for (let i = 0; i < n; i++) output[i] = power(a[i] as number, b[i] as number);
      break;
  }
}

/** pow of C99 Annex F: 1 for pow(1, NaN), pow(1, +-Infinity) and pow(-1, +-Infinity), all NaN in JavaScript. */
function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && (y === Infinity || y === -Infinity))) return 1;
  return x ** y;
}
