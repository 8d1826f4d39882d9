import type { Loop } from './loop.ts';

/** Operations that are the same on the bits of i32 and u32; and, or, xor of bools too. */
export const BIT_LOOPS: Readonly<
  Record<'add' | 'sub' | 'mul' | 'and' | 'or' | 'xor' | 'shl' | 'neg' | 'not' | 'notBool', Loop>
> = {
  add: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! + y[q + i]!;
  },
  sub: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! - y[q + i]!;
  },
  mul: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.imul(x[p + i]!, y[q + i]!);
  },
  and: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! & y[q + i]!;
  },
  or: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! | y[q + i]!;
  },
  xor: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! ^ y[q + i]!;
  },
  shl: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! << (y[q + i]! & 31);
  },
  neg: (n, { i: z, at }, { i: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = -x[p + i]!;
  },
  not: (n, { i: z, at }, { i: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = ~x[p + i]!;
  },
  notBool: (n, { i: z, at }, { i: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! ^ 1;
  },
};

/** Operations on i32. */
export const I32_LOOPS: Readonly<Record<'div' | 'rem' | 'min' | 'max' | 'shr' | 'abs' | 'toF32', Loop>> = {
  div: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = quotient(x[p + i]!, y[q + i]!);
  },
  rem: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = remainder(x[p + i]!, y[q + i]!);
  },
  min: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.min(x[p + i]!, y[q + i]!);
  },
  max: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.max(x[p + i]!, y[q + i]!);
  },
  shr: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! >> (y[q + i]! & 31);
  },
  abs: (n, { i: z, at }, { i: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.abs(x[p + i]!);
  },
  toF32: (n, { f: z, at }, { i: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]!;
  },
};

/** Operations on u32. */
export const U32_LOOPS: Readonly<Record<'div' | 'rem' | 'min' | 'max' | 'shr' | 'toF32', Loop>> = {
  div: (n, { u: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = quotient(x[p + i]!, y[q + i]!);
  },
  rem: (n, { u: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = remainder(x[p + i]!, y[q + i]!);
  },
  min: (n, { u: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.min(x[p + i]!, y[q + i]!);
  },
  max: (n, { u: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = Math.max(x[p + i]!, y[q + i]!);
  },
  shr: (n, { u: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! >>> (y[q + i]! & 31);
  },
  toF32: (n, { f: z, at }, { u: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]!;
  },
};

/** 0 where the divisor is; stored in 32 bits -2^31 / -1 is -2^31. */
function quotient(x: number, y: number): number {
  return y === 0 ? 0 : Math.trunc(x / y);
}

function remainder(x: number, y: number): number {
  return y === 0 ? 0 : x % y;
}
