import { gelu, power, roundEven, silu } from './special-functions.ts';
import type { Loop } from './loop.ts';
import { floats, ints } from './slot.ts';

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
  neg: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = -x[i]!;
  },
  abs: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.abs(x[i]!);
  },
  sqrt: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.sqrt(x[i]!);
  },
  rsqrt: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = 1 / Math.sqrt(x[i]!);
  },
  exp: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.exp(x[i]!);
  },
  log: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.log(x[i]!);
  },
  tanh: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.tanh(x[i]!);
  },
  sigmoid: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = 1 / (1 + Math.exp(-x[i]!));
  },
  silu: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = silu(x[i]!);
  },
  gelu: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = gelu(x[i]!);
  },
  floor: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.floor(x[i]!);
  },
  ceil: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.ceil(x[i]!);
  },
  round: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = roundEven(x[i]!);
  },
  trunc: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.trunc(x[i]!);
  },
  sign: (n, to, first) => {
    const z = floats(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Math.sign(x[i]!);
  },
};

/** Functions of two float32. */
export const FLOAT_BINARY: Readonly<Record<'add' | 'sub' | 'mul' | 'div' | 'min' | 'max' | 'pow' | 'atan2', Loop>> = {
  add: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! + y[i]!;
  },
  sub: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! - y[i]!;
  },
  mul: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! * y[i]!;
  },
  div: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! / y[i]!;
  },
  min: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = Math.min(x[i]!, y[i]!);
  },
  max: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = Math.max(x[i]!, y[i]!);
  },
  pow: (n, to, first, second) => {
    const z = floats(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = power(x[i]!, y[i]!);
  },
  atan2: (n, to, first, second) => {
    const z = floats(to);
    const y = floats(first);
    const x = floats(second);
    for (let i = 0; i < n; i++) z[i] = Math.atan2(y[i]!, x[i]!);
  },
};

/** The bits of -Infinity; those of negative NaN are larger, those of all other negative numbers smaller. */
const MINUS_INFINITY = 0xff80_0000 | 0;

/**
 * max(x, 0) on the bits: without a branch, which would be mispredicted half of the time on data around 0, and with NaN
 * coming through untouched.
 */
export const maxWithZero: Loop = (n, to, first) => {
  const z = ints(to);
  const x = ints(first);
  for (let i = 0; i < n; i++) {
    const bits = x[i]!;
    const isNegativeNan = (MINUS_INFINITY - bits) >> 31;
    z[i] = bits & ~((bits >> 31) & ~isNegativeNan);
  }
};
