import type { NodeOp, ValueType } from '@concord/backend-core/kernel';
import { type IntegerType, wrapped } from './integers.ts';
import { ANY_FLOAT, anyOf, type Interval, hull, isEmpty, isPoint, point } from './interval.ts';
import { MIN_NORMAL } from './float32.ts';
import { bitsOfFloat32, valueOfBits } from './stored-values.ts';

/** A conversion to another type, or undefined where `op` is none. A float operand comes as it was read, with its bits. */
export function conversionOf(op: NodeOp, from: ValueType): ((x: Interval) => Interval) | undefined {
  switch (op) {
    case 'toF32':
      return ({ lo, hi }) => ({ lo: Math.fround(lo), hi: Math.fround(hi), nan: false });
    case 'bitcastF32':
      return (x) => (isPoint(x) ? point(valueOfBits('f32', x.lo >>> 0)) : ANY_FLOAT);
    case 'toI32':
    case 'toU32': {
      const type = op === 'toI32' ? 'i32' : 'u32';
      return from === 'f32' ? (x) => truncated(type, x) : (x) => reinterpreted(type, x);
    }
    case 'bitcastI32':
    case 'bitcastU32': {
      const type = op === 'bitcastI32' ? 'i32' : 'u32';
      return from === 'f32' ? (x) => bitsOf(type, x) : (x) => reinterpreted(type, x);
    }
    default:
      return undefined;
  }
}

/** Towards zero, to the limits of the type; NaN gives 0. */
function truncated(type: IntegerType, x: Interval): Interval {
  const { lo: min, hi: greatest } = anyOf(type);
  const limited = (value: number): number => Math.min(Math.max(Math.trunc(value), min), greatest);
  if (isEmpty(x)) return point(0);
  const numbers = { lo: limited(x.lo), hi: limited(x.hi), nan: false };
  return x.nan ? hull(numbers, point(0)) : numbers;
}

/** The integer of the other type with the same bits. */
function reinterpreted(type: IntegerType, x: Interval): Interval {
  const [lo, hi] = [wrapped(type, x.lo), wrapped(type, x.hi)];
  // The ends are in order unless numbers between them wrap.
  return hi - lo === x.hi - x.lo ? { lo, hi, nan: false } : anyOf(type);
}

/** The bits of a float32; of a computed NaN, zero or subnormal, and where not the number is known, any. */
function bitsOf(type: IntegerType, x: Interval): Interval {
  if (x.copy?.dtype === 'f32') return point(wrapped(type, x.copy.bits));
  if (!isPoint(x) || Math.abs(x.lo) < MIN_NORMAL) return anyOf(type);
  return point(wrapped(type, bitsOfFloat32(x.lo)));
}
