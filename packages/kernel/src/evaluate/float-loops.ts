import { gelu, power, roundEven, silu } from './special-functions.ts';
import type { Loop } from './loop.ts';

// One loop for each function that is cheap: called through a pointer for each element, it would take several times as long.

type Unary =
  | 'neg'
  | 'abs'
  | 'sqrt'
  | 'rsqrt'
  | 'exp'
  | 'log'
  | 'tanh'
  | 'sigmoid'
  | 'silu'
  | 'gelu'
  | 'floor'
  | 'ceil'
  | 'round'
  | 'trunc'
  | 'sign';

/** Functions of one float32. */
export const FLOAT_UNARY: Readonly<Record<Unary, Loop>> = {
  neg: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = -x[p + i]!;
  },
  abs: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.abs(x[p + i]!);
  },
  sqrt: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.sqrt(x[p + i]!);
  },
  rsqrt: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = 1 / Math.sqrt(x[p + i]!);
  },
  exp: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.exp(x[p + i]!);
  },
  log: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.log(x[p + i]!);
  },
  tanh: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.tanh(x[p + i]!);
  },
  sigmoid: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = 1 / (1 + Math.exp(-x[p + i]!));
  },
  silu: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = silu(x[p + i]!);
  },
  gelu: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = gelu(x[p + i]!);
  },
  floor: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.floor(x[p + i]!);
  },
  ceil: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.ceil(x[p + i]!);
  },
  round: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = roundEven(x[p + i]!);
  },
  trunc: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.trunc(x[p + i]!);
  },
  sign: (n, { f: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.sign(x[p + i]!);
  },
};

/** Functions of two float32. */
export const FLOAT_BINARY: Readonly<Record<'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'pow', Loop>> = {
  add: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! + y[q + i]!;
  },
  sub: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! - y[q + i]!;
  },
  mul: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! * y[q + i]!;
  },
  div: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! / y[q + i]!;
  },
  min: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.min(x[p + i]!, y[q + i]!);
  },
  max: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.max(x[p + i]!, y[q + i]!);
  },
  pow: (n, { f: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = power(x[p + i]!, y[q + i]!);
  },
};

/** The bits of -Infinity; those of negative NaN are larger, those of all other negative numbers smaller. */
const MINUS_INFINITY = 0xff80_0000 | 0;

/**
 * max(x, 0) on the bits: without a branch, which would be mispredicted half of the time on data around 0, and with NaN
 * coming through untouched.
 */
export const maxWithZero: Loop = (n, { i: z, at }, { i: x, at: p }) => {
  for (let i = 0; i < n; i++) {
    const bits = x[p + i]!;
    const isNegativeNan = (MINUS_INFINITY - bits) >> 31;
    z[at + i] = bits & ~((bits >> 31) & ~isNegativeNan);
  }
};
