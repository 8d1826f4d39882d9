/**
 * The element-wise functions of one argument: each is computed in float64 and rounded once, when it is stored. One loop
 * per function, so that none of them pays for a call through a pointer. In place works, as element i is read before it
 * is written and never again.
 */

import type { CheckedUnary } from '@concord/backend-core/implement';
import { erfc } from './erfc.ts';

/** `output[i] = op(input[i])` for i in 0..n-1. */
export function unary(call: CheckedUnary, input: Float32Array, output: Float32Array): void {
  const { op, n } = call;
  switch (op) {
    case 'relu':
      relu(bitsOf(input, n), bitsOf(output, n), n);
      break;
    case 'sigmoid':
      for (let i = 0; i < n; i++) output[i] = 1 / (1 + Math.exp(-(input[i] as number)));
      break;
    case 'tanh':
      for (let i = 0; i < n; i++) output[i] = Math.tanh(input[i] as number);
      break;
    case 'exp':
      for (let i = 0; i < n; i++) output[i] = Math.exp(input[i] as number);
      break;
    case 'log':
      for (let i = 0; i < n; i++) output[i] = Math.log(input[i] as number);
      break;
    case 'sqrt':
      for (let i = 0; i < n; i++) output[i] = Math.sqrt(input[i] as number);
      break;
    case 'abs':
      for (let i = 0; i < n; i++) output[i] = Math.abs(input[i] as number);
      break;
    case 'neg':
      for (let i = 0; i < n; i++) output[i] = -(input[i] as number);
      break;
    case 'gelu':
      for (let i = 0; i < n; i++) output[i] = gelu(input[i] as number);
      break;
    case 'silu':
      for (let i = 0; i < n; i++) output[i] = silu(input[i] as number);
      break;
  }
}

/** The bits of -Infinity; those of negative NaN are larger, those of all other negative numbers smaller. */
const MINUS_INFINITY_BITS = 0xff800000 | 0;

/**
 * max(x, 0) on the bits: without a branch, which would be mispredicted half of the time on data around 0, and with NaN
 * coming through untouched.
 */
function relu(input: Int32Array, output: Int32Array, n: number): void {
  for (let i = 0; i < n; i++) {
    const x = input[i] as number;
    const negative = x >> 31;
    const negativeNaN = (MINUS_INFINITY_BITS - x) >> 31;
    output[i] = x & ~(negative & ~negativeNaN);
  }
}

function bitsOf(values: Float32Array, n: number): Int32Array {
  return new Int32Array(values.buffer, values.byteOffset, n);
}

/** x Phi(x); the limit 0 at -Infinity, where the product is Infinity * 0. */
function gelu(x: number): number {
  return x === -Infinity ? 0 : (x / 2) * erfc(-x * Math.SQRT1_2);
}

/** x sigmoid(x); the limit 0 at -Infinity, where the quotient is Infinity / Infinity. */
function silu(x: number): number {
  return x === -Infinity ? 0 : x / (1 + Math.exp(-x));
}
