import type { Loop } from './loop.ts';
import { floats, ints, words } from './slot.ts';

/** Comparisons of one type, and what else gives a bool. With NaN all are false but ne. */
type Comparisons = Readonly<Record<'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge', Loop>>;

/** Comparisons of float32. */
export const F32_COMPARISONS: Comparisons = {
  eq: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! === y[i]! ? 1 : 0;
  },
  ne: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! !== y[i]! ? 1 : 0;
  },
  lt: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! < y[i]! ? 1 : 0;
  },
  le: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! <= y[i]! ? 1 : 0;
  },
  gt: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! > y[i]! ? 1 : 0;
  },
  ge: (n, to, first, second) => {
    const z = ints(to);
    const x = floats(first);
    const y = floats(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! >= y[i]! ? 1 : 0;
  },
};

/** Comparisons of i32, and of bools. */
export const I32_COMPARISONS: Comparisons = {
  eq: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! === y[i]! ? 1 : 0;
  },
  ne: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! !== y[i]! ? 1 : 0;
  },
  lt: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! < y[i]! ? 1 : 0;
  },
  le: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! <= y[i]! ? 1 : 0;
  },
  gt: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! > y[i]! ? 1 : 0;
  },
  ge: (n, to, first, second) => {
    const z = ints(to);
    const x = ints(first);
    const y = ints(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! >= y[i]! ? 1 : 0;
  },
};

/** Comparisons of u32; equal bits are equal numbers. */
export const U32_COMPARISONS: Comparisons = {
  eq: I32_COMPARISONS.eq,
  ne: I32_COMPARISONS.ne,
  lt: (n, to, first, second) => {
    const z = ints(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! < y[i]! ? 1 : 0;
  },
  le: (n, to, first, second) => {
    const z = ints(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! <= y[i]! ? 1 : 0;
  },
  gt: (n, to, first, second) => {
    const z = ints(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! > y[i]! ? 1 : 0;
  },
  ge: (n, to, first, second) => {
    const z = ints(to);
    const x = words(first);
    const y = words(second);
    for (let i = 0; i < n; i++) z[i] = x[i]! >= y[i]! ? 1 : 0;
  },
};

/** The properties of float32. */
export const F32_TESTS: Readonly<Record<'isNan' | 'isFinite', Loop>> = {
  isNan: (n, to, first) => {
    const z = ints(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Number.isNaN(x[i]!) ? 1 : 0;
  },
  isFinite: (n, to, first) => {
    const z = ints(to);
    const x = floats(first);
    for (let i = 0; i < n; i++) z[i] = Number.isFinite(x[i]!) ? 1 : 0;
  },
};

/** `condition ? x : y` of the bits of any type, so that every bit is kept. */
export const selectLoop: Loop = (n, to, first, second, third) => {
  const z = ints(to);
  const condition = ints(first);
  const x = ints(second);
  const y = ints(third);
  for (let i = 0; i < n; i++) z[i] = condition[i] === 0 ? y[i]! : x[i]!;
};
