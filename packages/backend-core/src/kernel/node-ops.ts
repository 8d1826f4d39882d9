import type { ValueType } from './value-types.ts';

/** The types of a node's operands and of its result: `same` is the type of the operands. */
export interface NodeOpRule {
  readonly operands: number;
  /** Types that the operands may have, all of them the same one, but for `select`, whose first is a bool. */
  readonly types: readonly ValueType[];
  readonly result: ValueType | 'same';
}

/** The number of operands, their types, and the result's where it is not theirs. */
type Rule = readonly [operands: number, types: string, result?: ValueType];

const NODE_RULES = {
  add: [2, 'f32 i32 u32'],
  sub: [2, 'f32 i32 u32'],
  mul: [2, 'f32 i32 u32'],
  div: [2, 'f32 i32 u32'],
  rem: [2, 'i32 u32'],
  min: [2, 'f32 i32 u32'],
  max: [2, 'f32 i32 u32'],
  pow: [2, 'f32'],
  atan2: [2, 'f32'],
  and: [2, 'i32 u32 bool'],
  or: [2, 'i32 u32 bool'],
  xor: [2, 'i32 u32 bool'],
  shl: [2, 'i32 u32'],
  shr: [2, 'i32 u32'],
  eq: [2, 'f32 i32 u32 bool', 'bool'],
  ne: [2, 'f32 i32 u32 bool', 'bool'],
  lt: [2, 'f32 i32 u32', 'bool'],
  le: [2, 'f32 i32 u32', 'bool'],
  gt: [2, 'f32 i32 u32', 'bool'],
  ge: [2, 'f32 i32 u32', 'bool'],
  neg: [1, 'f32 i32 u32'],
  abs: [1, 'f32 i32 u32'],
  not: [1, 'i32 u32 bool'],
  sqrt: [1, 'f32'],
  rsqrt: [1, 'f32'],
  exp: [1, 'f32'],
  exp2: [1, 'f32'],
  expm1: [1, 'f32'],
  log: [1, 'f32'],
  log2: [1, 'f32'],
  log1p: [1, 'f32'],
  sin: [1, 'f32'],
  cos: [1, 'f32'],
  tanh: [1, 'f32'],
  sigmoid: [1, 'f32'],
  silu: [1, 'f32'],
  gelu: [1, 'f32'],
  geluTanh: [1, 'f32'],
  erf: [1, 'f32'],
  floor: [1, 'f32'],
  ceil: [1, 'f32'],
  round: [1, 'f32'],
  trunc: [1, 'f32'],
  sign: [1, 'f32'],
  isNan: [1, 'f32', 'bool'],
  isFinite: [1, 'f32', 'bool'],
  toF32: [1, 'i32 u32 bool', 'f32'],
  toI32: [1, 'f32 u32', 'i32'],
  toU32: [1, 'f32 i32', 'u32'],
  bitcastF32: [1, 'i32 u32', 'f32'],
  bitcastI32: [1, 'f32 u32', 'i32'],
  bitcastU32: [1, 'f32 i32', 'u32'],
  select: [3, 'f32 i32 u32 bool'],
  random: [3, 'u32', 'u32'],
} as const;

/** A function of values, point by point. */
export type NodeOp = keyof typeof NODE_RULES;

/** The rule of each {@link NodeOp}. */
export const NODE_OPS: Readonly<Record<NodeOp, NodeOpRule>> = rulesOf(NODE_RULES);

const FOLD_RULES = {
  sum: [1, 'f32 i32 u32'],
  product: [1, 'f32 i32 u32'],
  max: [1, 'f32 i32 u32'],
  min: [1, 'f32 i32 u32'],
  mean: [1, 'f32'],
  any: [1, 'bool'],
  all: [1, 'bool'],
  count: [1, 'bool', 'u32'],
  argmax: [1, 'f32 i32 u32', 'u32'],
  argmin: [1, 'f32 i32 u32', 'u32'],
} as const;

/** A fold over the folded axes. `argmax` and `argmin` give the row-major place in them. */
export type FoldOp = keyof typeof FOLD_RULES;

/** A fold that a scan can be of. */
export type ScanOp = 'sum' | 'product' | 'max' | 'min';

/** Every {@link ScanOp}. */
export const SCAN_OPS: readonly ScanOp[] = ['sum', 'product', 'max', 'min'];

/** The operand and result types of each {@link FoldOp}. */
export const FOLD_OPS: Readonly<Record<FoldOp, NodeOpRule>> = rulesOf(FOLD_RULES);

function rulesOf<Op extends string>(rules: Readonly<Record<Op, Rule>>): Record<Op, NodeOpRule> {
  const ruleOf = ([operands, types, result]: Rule): NodeOpRule => {
    return { operands, types: types.split(' ') as ValueType[], result: result ?? 'same' };
  };
  const entries = Object.entries<Rule>(rules).map(([op, rule]) => [op, ruleOf(rule)]);
  return Object.fromEntries(entries) as Record<Op, NodeOpRule>;
}
