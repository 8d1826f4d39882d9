import type { Loop } from './loop.ts';

/** Comparisons of one type, and what else gives a bool. With NaN all are false but ne. */
type Comparisons = Readonly<Record<'eq' | 'ne' | 'lt' | 'le' | 'gt' | 'ge', Loop>>;

/** Comparisons of float32. */
export const F32_COMPARISONS: Comparisons = {
  eq: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! === y[q + i]! ? 1 : 0;
  },
  ne: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! !== y[q + i]! ? 1 : 0;
  },
  lt: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! < y[q + i]! ? 1 : 0;
  },
  le: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! <= y[q + i]! ? 1 : 0;
  },
  gt: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! > y[q + i]! ? 1 : 0;
  },
  ge: (n, { i: z, at }, { f: x, at: p }, { f: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! >= y[q + i]! ? 1 : 0;
  },
};

/** Comparisons of i32, and of bools. */
export const I32_COMPARISONS: Comparisons = {
  eq: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! === y[q + i]! ? 1 : 0;
  },
  ne: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! !== y[q + i]! ? 1 : 0;
  },
  lt: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! < y[q + i]! ? 1 : 0;
  },
  le: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! <= y[q + i]! ? 1 : 0;
  },
  gt: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! > y[q + i]! ? 1 : 0;
  },
  ge: (n, { i: z, at }, { i: x, at: p }, { i: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! >= y[q + i]! ? 1 : 0;
  },
};

/** Comparisons of u32. */
export const U32_COMPARISONS: Comparisons = {
  eq: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! === y[q + i]! ? 1 : 0;
  },
  ne: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! !== y[q + i]! ? 1 : 0;
  },
  lt: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! < y[q + i]! ? 1 : 0;
  },
  le: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! <= y[q + i]! ? 1 : 0;
  },
  gt: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! > y[q + i]! ? 1 : 0;
  },
  ge: (n, { i: z, at }, { u: x, at: p }, { u: y, at: q }) => {
    for (let i = 0; i < n; i++) z[at + i] = x[p + i]! >= y[q + i]! ? 1 : 0;
  },
};

/** What tells float32 apart. */
export const F32_TESTS: Readonly<Record<'isNan' | 'isFinite', Loop>> = {
  isNan: (n, { i: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Number.isNaN(x[p + i]!) ? 1 : 0;
  },
  isFinite: (n, { i: z, at }, { f: x, at: p }) => {
    for (let i = 0; i < n; i++) z[at + i] = Number.isFinite(x[p + i]!) ? 1 : 0;
  },
};

/** `condition ? x : y` of the bits of any type, so that every bit is kept. */
export const selectLoop: Loop = (n, { i: z, at }, { i: condition, at: p }, { i: x, at: q }, { i: y, at: r }) => {
  for (let i = 0; i < n; i++) z[at + i] = condition[p + i] === 0 ? y[r + i]! : x[q + i]!;
};
