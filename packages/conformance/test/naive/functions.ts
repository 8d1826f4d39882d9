import type { NodeOp } from '@concord/backend-core/kernel';
import { EXACT_FUNCTIONS, FLOAT_FUNCTIONS, powC99 } from '../../../backend-cpu/src/reference/run/functions.ts';
import { randomWord } from '../../../backend-cpu/src/reference/run/integers.ts';

/** A float64 scratch whose bits can be looked at. */
const FLOAT = new Float32Array(1);
const WORD = new Uint32Array(FLOAT.buffer);
const bitsOf = (x: number): number => {
  FLOAT[0] = x;
  return WORD[0] as number;
};
const floatOf = (bits: number): number => {
  WORD[0] = bits;
  return FLOAT[0] as number;
};

const saturated = (x: number, low: number, high: number): number =>
  Number.isNaN(x) ? 0 : Math.min(Math.max(Math.trunc(x), low), high);
/** float32 functions in float64, to be rounded: those of the oracle. */
const FUNCTIONS: Partial<Readonly<Record<NodeOp, (x: number, y: number) => number>>> = {
  ...EXACT_FUNCTIONS,
  ...Object.fromEntries(Object.entries(FLOAT_FUNCTIONS).map(([op, { of }]) => [op, of])),
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / y,
  min: Math.min,
  max: Math.max,
  pow: powC99,
  atan2: Math.atan2,
  neg: (x) => -x,
  abs: Math.abs,
  rsqrt: (x) => 1 / Math.sqrt(x),
  sin: Math.sin,
  cos: Math.cos,
};

const quotient = (x: number, y: number): number => (y === 0 ? 0 : Math.trunc(x / y));

/** Integer functions in float64 or 32 bits, to be wrapped. */
const INTEGER_FUNCTIONS: Partial<Readonly<Record<NodeOp, (x: number, y: number) => number>>> = {
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => Math.imul(x, y),
  div: quotient,
  rem: (x, y) => (y === 0 ? 0 : x % y),
  min: (x, y) => Math.min(x, y),
  max: (x, y) => Math.max(x, y),
  neg: (x) => -x,
  abs: (x) => Math.abs(x),
  and: (x, y) => x & y,
  or: (x, y) => x | y,
  xor: (x, y) => x ^ y,
  not: (x) => ~x,
  shl: (x, y) => x << (y & 31),
};

/** A 32-bit integer as a number of its type. */
export function wrapped(type: string, x: number): number {
  // Beyond 2^53 a sum would have lost bits, but no sum or difference of two integers of 32 bits is.
  return type === 'i32' ? x | 0 : x >>> 0;
}

/** The value of an operation at one point; bools are 0 and 1. */
export function applyNode(op: NodeOp, type: string, operandType: string, operands: readonly number[]): number {
  const [x = 0, y = 0, z = 0] = operands;
  switch (op) {
    case 'select':
      return x === 1 ? y : z;
    case 'eq':
      return Number(x === y);
    case 'ne':
      return Number(x !== y);
    case 'lt':
      return Number(x < y);
    case 'le':
      return Number(x <= y);
    case 'gt':
      return Number(x > y);
    case 'ge':
      return Number(x >= y);
    case 'isNan':
      return Number(Number.isNaN(x));
    case 'isFinite':
      return Number(Number.isFinite(x));
    case 'toF32':
      return Math.fround(x);
    case 'toI32':
      return operandType === 'f32' ? saturated(x, -(2 ** 31), 2 ** 31 - 1) : x | 0;
    case 'toU32':
      return operandType === 'f32' ? saturated(x, 0, 2 ** 32 - 1) : x >>> 0;
    case 'bitcastF32':
      return floatOf(x);
    case 'bitcastI32':
      return operandType === 'f32' ? bitsOf(x) | 0 : x | 0;
    case 'bitcastU32':
      return operandType === 'f32' ? bitsOf(x) : x >>> 0;
    case 'random':
      return randomWord(x, y, z);
    case 'shr':
      return type === 'i32' ? x >> (y & 31) : x >>> (y & 31);
    default:
      return ofType(op, type, x, y);
  }
}

function ofType(op: NodeOp, type: string, x: number, y: number): number {
  if (type === 'f32') return Math.fround(FUNCTIONS[op]?.(x, y) as number);
  const value = INTEGER_FUNCTIONS[op]?.(x, y) as number;
  return type === 'bool' ? value & 1 : wrapped(type, value);
}
