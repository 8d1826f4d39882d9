import { erfc } from './erfc.ts';

const TWO_OVER_SQRT_PI = 2 / Math.sqrt(Math.PI);
const SQRT_TWO_OVER_PI = Math.sqrt(2 / Math.PI);
/** 1.5 * 2^52: adding it to a number below 2^51 rounds that to an integer, ties to even. */
const ROUNDER = 6_755_399_441_055_744;

/** The error function: its series where 1 - erfc cancels. */
export function erf(x: number): number {
  if (!(Math.abs(x) < 0.5)) return 1 - erfc(x);
  let term = TWO_OVER_SQRT_PI * x;
  let sum = 0;
  for (let n = 0; n < 14; n++) {
    sum += term / (2 * n + 1);
    term *= -(x * x) / (n + 1);
  }
  return sum;
}

/** x Phi(x); the limit 0 at -Infinity, where the product is Infinity * 0. */
export function gelu(x: number): number {
  return x === -Infinity ? 0 : (x / 2) * erfc(-x * Math.SQRT1_2);
}

/** x sigmoid(x); the limit 0 at -Infinity, where the quotient is Infinity / Infinity. */
export function silu(x: number): number {
  return x === -Infinity ? 0 : x / (1 + Math.exp(-x));
}

/** x (1 + tanh z) / 2 = x / (1 + e^-2z); the limit 0 at -Infinity. */
export function geluTanh(x: number): number {
  return x === -Infinity ? 0 : x / (1 + Math.exp(-2 * SQRT_TWO_OVER_PI * (x + 0.044715 * x * x * x)));
}

/** pow of C99 Annex F: 1 for pow(1, NaN), pow(1, +-Infinity) and pow(-1, +-Infinity), all NaN in JavaScript. */
export function power(x: number, y: number): number {
  if (x === 1 || (x === -1 && (y === Infinity || y === -Infinity))) return 1;
  return x ** y;
}

/** Rounds a float32 to the nearest integer, ties to even: those from 2^23 on are integers. */
export function roundEven(x: number): number {
  return Math.abs(x) < 2 ** 23 ? x + ROUNDER - ROUNDER : x;
}

/** Truncated to an i32, the limits beyond them, 0 of NaN. */
export function toI32(x: number): number {
  if (x >= 2 ** 31) return 2 ** 31 - 1;
  return x <= -(2 ** 31) ? -(2 ** 31) : x | 0;
}

/** Truncated to a u32, the limits beyond them, 0 of NaN. */
export function toU32(x: number): number {
  if (x >= 2 ** 32) return 2 ** 32 - 1;
  return x > 0 ? x >>> 0 : 0;
}

/** The upper 32 bits of a product of two u32. */
function mulHigh(x: number, y: number): number {
  const [x0, x1, y0, y1] = [x & 0xffff, x >>> 16, y & 0xffff, y >>> 16];
  const middle = x1 * y0 + ((x0 * y0) >>> 16);
  return (x1 * y1 + Math.floor(middle / 65_536) + Math.floor((x0 * y1 + (middle & 0xffff)) / 65_536)) >>> 0;
}

const WEYL = [0x9e37_79b9, 0xbb67_ae85] as const;

/** Word `index & 3` of Philox 4x32-10 with key (seed, 0) and counter (index >> 2, stream, 0, 0). */
export function random(seed: number, index: number, stream: number): number {
  let [x0, x1, x2, x3, key0, key1] = [index >>> 2, stream, 0, 0, seed, 0];
  for (let round = 0; round < 10; round++) {
    const y0 = mulHigh(x2, 0xcd9e_8d57) ^ x1 ^ key0;
    const y2 = mulHigh(x0, 0xd251_1f53) ^ x3 ^ key1;
    x1 = Math.imul(x2, 0xcd9e_8d57) >>> 0;
    x3 = Math.imul(x0, 0xd251_1f53) >>> 0;
    x0 = y0 >>> 0;
    x2 = y2 >>> 0;
    key0 = (key0 + WEYL[0]) >>> 0;
    key1 = (key1 + WEYL[1]) >>> 0;
  }
  const word = index & 3;
  return word === 0 ? x0 : word === 1 ? x1 : word === 2 ? x2 : x3;
}
