import type { NodeOp, ValueType } from '@concord/backend-core/kernel';
import { atan2, floatFunction } from './float-functions.ts';
import { BOOL_OPS, COMPARISONS, isFinite, isNan } from './comparisons.ts';
import { conversionOf } from './conversions.ts';
import { abs, add, div, max, min, mul, neg, rsqrt, withNan } from './float-arithmetic.ts';
import { integerOp } from './integers.ts';
import type { Interval } from './interval.ts';
import { pow } from './power.ts';

/** The result of an operation on values: the operands of its node, all of one type. */
export type Operation = (operands: readonly Interval[]) => Interval;

type Numbers = (a: Interval, b: Interval) => Interval;

const FLOAT_ARITHMETIC: Readonly<Partial<Record<NodeOp, Numbers>>> = {
  add,
  sub: (a, b) => add(a, neg(b)),
  mul,
  div,
  min,
  max,
  neg,
  abs,
  rsqrt,
  atan2,
};

/** The operation of a node on operands of a type; not of `select`, which looks at no value. */
export function operationOf(op: NodeOp, type: ValueType): Operation {
  const comparison = COMPARISONS[op];
  if (comparison !== undefined) return ([a, b]) => comparison(a as Interval, b as Interval);
  if (op === 'isNan') return ([x]) => isNan(x as Interval);
  if (op === 'isFinite') return ([x]) => isFinite(x as Interval);
  const convert = conversionOf(op, type);
  if (convert !== undefined) return ([x]) => convert(x as Interval);
  if (type === 'f32') return floatOperation(op);
  if (type !== 'bool') return (operands) => integerOp(op, type, operands);
  const bool = BOOL_OPS[op] as Numbers;
  return ([a, b]) => bool(a as Interval, b as Interval);
}

function floatOperation(op: NodeOp): Operation {
  if (op === 'pow') return ([x, y]) => pow(x as Interval, y as Interval);
  const of = floatFunction(op) ?? (FLOAT_ARITHMETIC[op] as Numbers);
  return (operands) => withNan(of, operands);
}
