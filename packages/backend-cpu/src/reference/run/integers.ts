import type { NodeOp } from '@concord/backend-core/kernel';
import { anyOf, contains, hullOf, type Interval, isPoint, point } from './interval.ts';

/** Four u32. */
export type Words = readonly [number, number, number, number];

const MULTIPLIERS = [0xd2511f53n, 0xcd9e8d57n] as const;
const KEY_STEPS = [0x9e3779b9n, 0xbb67ae85n] as const;
const ROUNDS = 10;

/**
 * Philox 4x32-10: four random words of a counter and a key.
 *
 * Salmon et al., Parallel random numbers: as easy as 1, 2, 3, SC 2011, section 3.3.
 */
export function philox4x32(counter: Words, key: readonly [number, number]): Words {
  let [c0, c1, c2, c3] = counter.map(BigInt) as [bigint, bigint, bigint, bigint];
  let [k0, k1] = key.map(BigInt) as [bigint, bigint];
  for (let round = 0; round < ROUNDS; round++) {
    const first = MULTIPLIERS[0] * c0;
    const second = MULTIPLIERS[1] * c2;
    [c0, c1, c2, c3] = [high(second) ^ c1 ^ k0, low(second), high(first) ^ c3 ^ k1, low(first)];
    k0 = low(k0 + KEY_STEPS[0]);
    k1 = low(k1 + KEY_STEPS[1]);
  }
  return [Number(c0), Number(c1), Number(c2), Number(c3)];
}

function high(product: bigint): bigint {
  return product >> 32n;
}

function low(x: bigint): bigint {
  return x & 0xffff_ffffn;
}

/** The node `random`: word `index & 3` of the block that four neighbours share. */
export function randomWord(seed: number, index: number, stream: number): number {
  return philox4x32([index >>> 2, stream, 0, 0], [seed, 0])[index & 3] as number;
}

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
