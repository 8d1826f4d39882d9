import type { NodeOp, ValueType } from '@concord/backend-core/kernel';
import { erf, gelu, geluTanh, power, random, roundEven, silu, toI32, toU32 } from './special-functions.ts';

/** Numbers of a type; a bool is 0 or 1. What is stored is rounded to float32, or taken modulo 2^32. */
export type Numbers = Float32Array | Int32Array | Uint32Array;

/** Computes `n` values of a node from those of its operands. */
export type Loop = (n: number, z: Numbers, x: Numbers, y: Numbers, w: Numbers) => void;

type Loops = Partial<Readonly<Record<NodeOp, Loop>>>;

/** A loop for a function that takes longer than the call of it. */
const mapped =
  (compute: (x: number) => number): Loop =>
  (n, z, x) => {
    for (let i = 0; i < n; i++) z[i] = compute(x[i]!);
  };

const mapped2 =
  (compute: (x: number, y: number) => number): Loop =>
  (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = compute(x[i]!, y[i]!);
  };

/** Operations that are one for all types. */
const ANY: Loops = {
  add: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! + y[i]!;
  },
  sub: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! - y[i]!;
  },
  neg: (n, z, x) => {
    for (let i = 0; i < n; i++) z[i] = -x[i]!;
  },
  abs: (n, z, x) => {
    for (let i = 0; i < n; i++) z[i] = Math.abs(x[i]!);
  },
  min: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = Math.min(x[i]!, y[i]!);
  },
  max: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = Math.max(x[i]!, y[i]!);
  },
  toF32: (n, z, x) => {
    for (let i = 0; i < n; i++) z[i] = x[i]!;
  },
  eq: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! === y[i]! ? 1 : 0;
  },
  ne: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! === y[i]! ? 0 : 1;
  },
  lt: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! < y[i]! ? 1 : 0;
  },
  le: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! <= y[i]! ? 1 : 0;
  },
  gt: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! > y[i]! ? 1 : 0;
  },
  ge: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! >= y[i]! ? 1 : 0;
  },
  // On the bits of any type, so that every bit is kept.
  select: (n, z, condition, x, y) => {
    for (let i = 0; i < n; i++) z[i] = condition[i] === 0 ? y[i]! : x[i]!;
  },
};

const FLOATS: Loops = {
  ...ANY,
  mul: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! * y[i]!;
  },
  div: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! / y[i]!;
  },
  pow: mapped2(power),
  atan2: mapped2(Math.atan2),
  sqrt: mapped(Math.sqrt),
  rsqrt: mapped((x) => 1 / Math.sqrt(x)),
  exp: mapped(Math.exp),
  exp2: mapped((x) => 2 ** x),
  expm1: mapped(Math.expm1),
  log: mapped(Math.log),
  log2: mapped(Math.log2),
  log1p: mapped(Math.log1p),
  sin: mapped(Math.sin),
  cos: mapped(Math.cos),
  tanh: mapped(Math.tanh),
  sigmoid: mapped((x) => 1 / (1 + Math.exp(-x))),
  silu: mapped(silu),
  gelu: mapped(gelu),
  geluTanh: mapped(geluTanh),
  erf: mapped(erf),
  floor: mapped(Math.floor),
  ceil: mapped(Math.ceil),
  round: mapped(roundEven),
  trunc: mapped(Math.trunc),
  sign: mapped(Math.sign),
  toI32: mapped(toI32),
  toU32: mapped(toU32),
  isNan: mapped((x) => (Number.isNaN(x) ? 1 : 0)),
  isFinite: mapped((x) => (Number.isFinite(x) ? 1 : 0)),
};

const BITS: Loops = {
  and: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! & y[i]!;
  },
  or: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! | y[i]!;
  },
  xor: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = x[i]! ^ y[i]!;
  },
};

const INTEGERS: Loops = {
  ...ANY,
  ...BITS,
  mul: (n, z, x, y) => {
    for (let i = 0; i < n; i++) z[i] = Math.imul(x[i]!, y[i]!);
  },
  // 0 where the divisor is; -2^31 / -1 is stored as -2^31.
  div: mapped2((x, y) => (y === 0 ? 0 : Math.trunc(x / y))),
  rem: mapped2((x, y) => (y === 0 ? 0 : x % y)),
  shl: mapped2((x, y) => x << (y & 31)),
  not: mapped((x) => ~x),
};

const LOOPS: Readonly<Record<ValueType, Loops>> = {
  f32: FLOATS,
  i32: { ...INTEGERS, shr: mapped2((x, y) => x >> (y & 31)) },
  u32: {
    ...INTEGERS,
    shr: mapped2((x, y) => x >>> (y & 31)),
    random: (n, z, seed, index, stream) => {
      for (let i = 0; i < n; i++) z[i] = random(seed[i]!, index[i]!, stream[i]!);
    },
  },
  bool: { ...ANY, ...BITS, not: mapped((x) => x ^ 1) },
};

/** The loop of an operation on operands of a type. */
export function loopOf(op: NodeOp, type: ValueType): Loop {
  const loop = LOOPS[type][op];
  if (loop === undefined) throw new Error(`no loop for ${op} of ${type}`);
  return loop;
}

/** Returns whether an operation leaves the bits of its operand as they are: then they need not be copied. */
export function isView(op: NodeOp, type: ValueType): boolean {
  return (
    op.startsWith('bitcast') ||
    ((op === 'toI32' || op === 'toU32') && type !== 'f32') ||
    (op === 'abs' && type === 'u32')
  );
}
