import type { NodeOp } from '@concord/backend-core/kernel';
import { anyOf, contains, hullOf, type Interval, isPoint, point } from './interval.ts';
import { randomWord } from './philox.ts';

/** An integer type. */
export type IntegerType = 'i32' | 'u32';

/** The integer of a type that has the low 32 bits of an integer. */
export function wrapped(type: IntegerType, value: number): number {
  return type === 'i32' ? value | 0 : value >>> 0;
}

/** A range before wrapping: any integer where it leaves the type. */
export function ofType(type: IntegerType, range: Interval): Interval {
  const any = anyOf(type);
  return range.lo >= any.lo && range.hi <= any.hi ? range : any;
}

type Unary = (x: number) => number;
type Binary = (a: number, b: number) => number;

/** Operations of integers; the result is then wrapped. */
const UNARY: Readonly<Partial<Record<NodeOp, Unary>>> = { neg: (x) => -x, abs: Math.abs, not: (x) => ~x };

const BINARY: Readonly<Partial<Record<NodeOp, Binary>>> = {
  add: (a, b) => a + b,
  sub: (a, b) => a - b,
  mul: Math.imul,
  div: (a, b) => (b === 0 ? 0 : Math.trunc(a / b)),
  rem: (a, b) => (b === 0 ? 0 : a % b),
  min: Math.min,
  max: Math.max,
  and: (a, b) => a & b,
  or: (a, b) => a | b,
  xor: (a, b) => a ^ b,
  shl: (a, b) => a << (b & 31),
};

/** Ranges of those whose ends are known before wrapping. Of the others a range gives any integer. */
const RANGES: Readonly<Partial<Record<NodeOp, (a: Interval, b: Interval) => Interval>>> = {
  add: (a, b) => ({ lo: a.lo + b.lo, hi: a.hi + b.hi, nan: false }),
  sub: (a, b) => ({ lo: a.lo - b.hi, hi: a.hi - b.lo, nan: false }),
  mul: (a, b) => hullOf([a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi], false),
  neg: (x) => ({ lo: -x.hi, hi: -x.lo, nan: false }),
  abs: (x) => hullOf([Math.abs(x.lo), Math.abs(x.hi), ...(contains(x, 0) ? [0] : [])], false),
  min: (a, b) => ({ lo: Math.min(a.lo, b.lo), hi: Math.min(a.hi, b.hi), nan: false }),
  max: (a, b) => ({ lo: Math.max(a.lo, b.lo), hi: Math.max(a.hi, b.hi), nan: false }),
  div: quotients,
  rem: remainders,
};

/** The image of integers under an operation of one or two of them, but for comparisons. */
export function integerOp(op: NodeOp, type: IntegerType, operands: readonly Interval[]): Interval {
  if (operands.every(isPoint)) {
    const [a, b, c] = operands.map(({ lo }) => lo) as [number, number, number];
    return point(wrapped(type, exactly(op, type, a, b, c)));
  }
  const range = RANGES[op];
  const [a, b] = operands as [Interval, Interval];
  return range === undefined ? anyOf(type) : ofType(type, range(a, b));
}

function exactly(op: NodeOp, type: IntegerType, a: number, b: number, c: number): number {
  if (op === 'random') return randomWord(a, b, c);
  if (op === 'shr') return type === 'i32' ? a >> (b & 31) : a >>> (b & 31);
  const binary = BINARY[op];
  return binary === undefined ? (UNARY[op] as Unary)(a) : binary(a, b);
}

function quotients(a: Interval, b: Interval): Interval {
  const values: number[] = contains(b, 0) ? [0] : [];
  // Divisors of one sign: the quotient rises or falls in each operand, so that the corners have its extremes.
  for (const [from, to] of [
    [b.lo, Math.min(b.hi, -1)],
    [Math.max(b.lo, 1), b.hi],
  ] as const) {
    if (from > to) continue;
    for (const divisor of [from, to]) values.push(Math.trunc(a.lo / divisor), Math.trunc(a.hi / divisor));
  }
  return hullOf(values, false);
}

/** A remainder has the sign of the dividend, is no larger than it, and is less than the divisor. */
function remainders(a: Interval, b: Interval): Interval {
  const most = Math.max(Math.abs(b.lo), Math.abs(b.hi), 1) - 1;
  return { lo: Math.max(Math.min(a.lo, 0), -most), hi: Math.min(Math.max(a.hi, 0), most), nan: false };
}
