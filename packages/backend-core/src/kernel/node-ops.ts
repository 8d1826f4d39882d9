import type { ValueType } from './value-types.ts';

/** The types of a node's operands and of its result: `same` is the type of the operands. */
export interface NodeOpRule {
  readonly operands: number;
  /** Types that the operands may have, all of them the same one, but for `select`, whose first is a bool. */
  readonly types: readonly ValueType[];
  readonly result: ValueType | 'same';
}

const F32 = ['f32'] as const;
const INTEGERS = ['i32', 'u32'] as const;
const NUMBERS = ['f32', 'i32', 'u32'] as const;
const BITS = ['i32', 'u32', 'bool'] as const;
const ALL = ['f32', 'i32', 'u32', 'bool'] as const;

const unary = (types: readonly ValueType[], result: ValueType | 'same' = 'same'): NodeOpRule => ({
  operands: 1,
  types,
  result,
});
const binary = (types: readonly ValueType[], result: ValueType | 'same' = 'same'): NodeOpRule => ({
  operands: 2,
  types,
  result,
});

/** A function of values, point by point. */
export type NodeOp =
  | 'add'
  | 'sub'
  | 'mul'
  | 'div'
  | 'rem'
  | 'min'
  | 'max'
  | 'pow'
  | 'atan2'
  | 'and'
  | 'or'
  | 'xor'
  | 'shl'
  | 'shr'
  | 'eq'
  | 'ne'
  | 'lt'
  | 'le'
  | 'gt'
  | 'ge'
  | 'neg'
  | 'abs'
  | 'not'
  | 'sqrt'
  | 'rsqrt'
  | 'exp'
  | 'exp2'
  | 'expm1'
  | 'log'
  | 'log2'
  | 'log1p'
  | 'sin'
  | 'cos'
  | 'tanh'
  | 'sigmoid'
  | 'silu'
  | 'gelu'
  | 'geluTanh'
  | 'erf'
  | 'floor'
  | 'ceil'
  | 'round'
  | 'trunc'
  | 'sign'
  | 'isNan'
  | 'isFinite'
  | 'toF32'
  | 'toI32'
  | 'toU32'
  | 'bitcastF32'
  | 'bitcastI32'
  | 'bitcastU32'
  | 'select'
  | 'random';

/** The rule of each {@link NodeOp}. */
export const NODE_OPS: Readonly<Record<NodeOp, NodeOpRule>> = {
  add: binary(NUMBERS),
  sub: binary(NUMBERS),
  mul: binary(NUMBERS),
  div: binary(NUMBERS),
  rem: binary(INTEGERS),
  min: binary(NUMBERS),
  max: binary(NUMBERS),
  pow: binary(F32),
  atan2: binary(F32),
  and: binary(BITS),
  or: binary(BITS),
  xor: binary(BITS),
  shl: binary(INTEGERS),
  shr: binary(INTEGERS),
  eq: binary(ALL, 'bool'),
  ne: binary(ALL, 'bool'),
  lt: binary(NUMBERS, 'bool'),
  le: binary(NUMBERS, 'bool'),
  gt: binary(NUMBERS, 'bool'),
  ge: binary(NUMBERS, 'bool'),
  neg: unary(NUMBERS),
  abs: unary(NUMBERS),
  not: unary(BITS),
  sqrt: unary(F32),
  rsqrt: unary(F32),
  exp: unary(F32),
  exp2: unary(F32),
  expm1: unary(F32),
  log: unary(F32),
  log2: unary(F32),
  log1p: unary(F32),
  sin: unary(F32),
  cos: unary(F32),
  tanh: unary(F32),
  sigmoid: unary(F32),
  silu: unary(F32),
  gelu: unary(F32),
  geluTanh: unary(F32),
  erf: unary(F32),
  floor: unary(F32),
  ceil: unary(F32),
  round: unary(F32),
  trunc: unary(F32),
  sign: unary(F32),
  isNan: unary(F32, 'bool'),
  isFinite: unary(F32, 'bool'),
  toF32: unary(['i32', 'u32', 'bool'], 'f32'),
  toI32: unary(['f32', 'u32'], 'i32'),
  toU32: unary(['f32', 'i32'], 'u32'),
  bitcastF32: unary(INTEGERS, 'f32'),
  bitcastI32: unary(['f32', 'u32'], 'i32'),
  bitcastU32: unary(['f32', 'i32'], 'u32'),
  select: { operands: 3, types: ALL, result: 'same' },
  random: { operands: 3, types: ['u32'], result: 'u32' },
};

/** A fold over the folded axes. `argmax` and `argmin` give the row-major place in them. */
export type FoldOp = 'sum' | 'product' | 'max' | 'min' | 'mean' | 'any' | 'all' | 'count' | 'argmax' | 'argmin';

/** The operand and result types of each {@link FoldOp}. */
export const FOLD_OPS: Readonly<Record<FoldOp, NodeOpRule>> = {
  sum: unary(NUMBERS),
  product: unary(NUMBERS),
  max: unary(NUMBERS),
  min: unary(NUMBERS),
  mean: unary(F32),
  any: unary(['bool']),
  all: unary(['bool']),
  count: unary(['bool'], 'u32'),
  argmax: unary(NUMBERS, 'u32'),
  argmin: unary(NUMBERS, 'u32'),
};
