import type { Loop } from './loop.ts';
import { floats, ints, words } from './slot.ts';

/** Operations that are the same on the bits of i32 and u32; and, or, xor of bools too. */
export const BIT_LOOPS: Readonly<
  Record<'add' | 'sub' | 'mul' | 'and' | 'or' | 'xor' | 'shl' | 'neg' | 'not' | 'notBool', Loop>
> = {
  add: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! + y[i]!;
  },
  sub: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! - y[i]!;
  },
  mul: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = Math.imul(x[i]!, y[i]!);
  },
  and: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! & y[i]!;
  },
  or: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! | y[i]!;
  },
  xor: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! ^ y[i]!;
  },
  shl: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! << (y[i]! & 31);
  },
  neg: (n, to, first) => {
    const z = ints(to);
    const x = ints(first);
    for (let i = 0; i < n; i++) z[i] = -x[i]!;
  },
  not: (n, to, first) => {
    const z = ints(to);
    const x = ints(first);
    for (let i = 0; i < n; i++) z[i] = ~x[i]!;
  },
  notBool: (n, to, first) => {
    const z = ints(to);
    const x = ints(first);
    for (let i = 0; i < n; i++) z[i] = x[i]! ^ 1;
  },
};

/** Operations on i32. */
export const I32_LOOPS: Readonly<Record<'div' | 'rem' | 'min' | 'max' | 'shr' | 'abs' | 'toF32', Loop>> = {
  div: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = quotient(x[i]!, y[i]!);
  },
  rem: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = remainder(x[i]!, y[i]!);
  },
  min: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = Math.min(x[i]!, y[i]!);
  },
  max: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = Math.max(x[i]!, y[i]!);
  },
  shr: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! >> (y[i]! & 31);
  },
  abs: (n, to, first) => {
    const z = ints(to);
    const x = ints(first);
    for (let i = 0; i < n; i++) z[i] = Math.abs(x[i]!);
  },
  toF32: (n, to, first) => {
    const z = floats(to);
    const x = ints(first);
    for (let i = 0; i < n; i++) z[i] = x[i]!;
  },
};

/** Operations on u32. */
export const U32_LOOPS: Readonly<Record<'div' | 'rem' | 'min' | 'max' | 'shr' | 'toF32', Loop>> = {
  div: (n, to, first, second) => {
    const z = words(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = quotient(x[i]!, y[i]!);
  },
  rem: (n, to, first, second) => {
    const z = words(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = remainder(x[i]!, y[i]!);
  },
  min: (n, to, first, second) => {
    const z = words(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = Math.min(x[i]!, y[i]!);
  },
  max: (n, to, first, second) => {
    const z = words(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = Math.max(x[i]!, y[i]!);
  },
  shr: (n, to, first, second) => {
    const z = words(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! >>> (y[i]! & 31);
  },
  toF32: (n, to, first) => {
    const z = floats(to);
    const x = words(first);
    for (let i = 0; i < n; i++) z[i] = x[i]!;
  },
};

/** 0 where the divisor is; stored in 32 bits -2^31 / -1 is -2^31. */
function quotient(x: number, y: number): number {
  return y === 0 ? 0 : Math.trunc(x / y);
}

function remainder(x: number, y: number): number {
  return y === 0 ? 0 : x % y;
}
