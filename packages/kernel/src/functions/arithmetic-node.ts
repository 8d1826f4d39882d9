import type { ArithmeticNode, KernelNode, NodeOp, ValueType } from '@concord/backend-core/kernel';
import type { Arithmetic, IntegerType } from '../arithmetic/arithmetic.ts';
import { atan2, cos, sin } from './trigonometry.ts';
import { divide } from './divide.ts';
import { exp, exp2, expm1 } from './exponential.ts';
import { erf, gelu } from './gelu.ts';
import { quotient, remainder, rounded, shifted, toI32, toU32 } from './integers.ts';
import { log, log1p, log2 } from './log.ts';
import { geluTanh, sigmoid, silu, tanh } from './logistic.ts';
import { compare, isFinite, isNan, max, min, sign } from './order.ts';
import { pow } from './pow.ts';
import { random } from './random.ts';
import { rsqrt, sqrt } from './sqrt.ts';
import { bitsOfFloat } from './terms.ts';

/** The computation of a node: from the type of its (last) operand and its operands. */
type Lowering = <V>(a: Arithmetic<V>, type: ValueType, x: V, y: V, z: V) => V;

/** A type that the rules of the node admit: never a bool where they admit none. */
type Number = 'f32' | IntegerType;
type Bits = IntegerType | 'bool';

const isFloat = (type: ValueType): type is 'f32' => type === 'f32';

const LOWERINGS: Readonly<Record<NodeOp, Lowering>> = {
  add: (a, type, x, y) => a.add(type as Number, x, y),
  sub: (a, type, x, y) => a.sub(type as Number, x, y),
  mul: (a, type, x, y) => a.mul(type as Number, x, y),
  div: (a, type, x, y) => (isFloat(type) ? divide(a, x, y) : quotient(a, type as IntegerType, x, y)),
  rem: (a, type, x, y) => remainder(a, type as IntegerType, x, y),
  min: (a, type, x, y) => (isFloat(type) ? min(a, x, y) : a.min(type as IntegerType, x, y)),
  max: (a, type, x, y) => (isFloat(type) ? max(a, x, y) : a.max(type as IntegerType, x, y)),
  pow: (a, _, x, y) => pow(a, x, y),
  atan2: (a, _, y, x) => atan2(a, y, x),
  and: (a, type, x, y) => a.and(type as Bits, x, y),
  or: (a, type, x, y) => a.or(type as Bits, x, y),
  xor: (a, type, x, y) => a.xor(type as Bits, x, y),
  shl: (a, type, x, y) => shifted(a, 'shl', type as IntegerType, x, y),
  shr: (a, type, x, y) => shifted(a, 'shr', type as IntegerType, x, y),
  eq: (a, type, x, y) => compare(a, 'eq', type, x, y),
  ne: (a, type, x, y) => compare(a, 'ne', type, x, y),
  lt: (a, type, x, y) => compare(a, 'lt', type, x, y),
  le: (a, type, x, y) => compare(a, 'le', type, x, y),
  gt: (a, type, x, y) => compare(a, 'gt', type, x, y),
  ge: (a, type, x, y) => compare(a, 'ge', type, x, y),
  neg: (a, type, x) => (type === 'u32' ? a.sub('u32', a.constant('u32', 0), x) : a.neg(type as 'f32' | 'i32', x)),
  abs: (a, type, x) => {
    if (type === 'f32') return a.abs('f32', x);
    return type === 'u32' ? x : a.select('i32', a.less('i32', x, a.constant('i32', 0)), a.neg('i32', x), x);
  },
  not: (a, type, x) => a.not(type as Bits, x),
  sqrt: (a, _, x) => sqrt(a, x),
  rsqrt: (a, _, x) => rsqrt(a, x),
  exp: (a, _, x) => exp(a, x),
  exp2: (a, _, x) => exp2(a, x),
  expm1: (a, _, x) => expm1(a, x),
  log: (a, _, x) => log(a, x),
  log2: (a, _, x) => log2(a, x),
  log1p: (a, _, x) => log1p(a, x),
  sin: (a, _, x) => sin(a, x),
  cos: (a, _, x) => cos(a, x),
  tanh: (a, _, x) => tanh(a, x),
  sigmoid: (a, _, x) => sigmoid(a, x),
  silu: (a, _, x) => silu(a, x),
  gelu: (a, _, x) => gelu(a, x),
  geluTanh: (a, _, x) => geluTanh(a, x),
  erf: (a, _, x) => erf(a, x),
  floor: (a, _, x) => rounded(a, 'floor', x),
  ceil: (a, _, x) => rounded(a, 'ceil', x),
  round: (a, _, x) => rounded(a, 'roundEven', x),
  trunc: (a, _, x) => rounded(a, 'trunc', x),
  sign: (a, _, x) => sign(a, x),
  isNan: (a, _, x) => isNan(a, x),
  isFinite: (a, _, x) => isFinite(a, x),
  toF32: (a, type, x) =>
    type === 'bool'
      ? a.select('f32', x, a.constant('f32', bitsOfFloat(1)), a.constant('f32', 0))
      : a.toFloat(type as IntegerType, x),
  toI32: (a, type, x) => (type === 'f32' ? toI32(a, x) : a.bitcast('u32', 'i32', x)),
  toU32: (a, type, x) => (type === 'f32' ? toU32(a, x) : a.bitcast('i32', 'u32', x)),
  bitcastF32: (a, type, x) => a.bitcast(type as IntegerType, 'f32', x),
  bitcastI32: (a, type, x) => a.bitcast(type as 'f32' | 'u32', 'i32', x),
  bitcastU32: (a, type, x) => a.bitcast(type as 'f32' | 'i32', 'u32', x),
  select: (a, type, condition, x, y) => a.select(type, condition, x, y),
  random: (a, _, seed, index, stream) => random(a, seed, index, stream),
};

/** The cost of nodes that are more than an instruction or two, in multiply-adds of one element. */
const COSTS: Readonly<Partial<Record<NodeOp, number>>> = {
  ...{ div: 8, rem: 16, sqrt: 8, rsqrt: 8, pow: 80, random: 60 },
  ...{ exp: 16, exp2: 16, expm1: 24, log: 24, log2: 24, log1p: 32, sin: 40, cos: 40, atan2: 50 },
  ...{ tanh: 24, sigmoid: 24, silu: 24, gelu: 40, geluTanh: 40, erf: 40 },
};

/** The cost of a node for one element, in multiply-adds; of a gather with its address, its bounds and a load of its own. */
export function costOf(node: KernelNode): number {
  switch (node.kind) {
    case 'arithmetic':
      return COSTS[node.op] ?? 2;
    case 'gather':
      return 16;
    case 'fold':
    case 'scan':
      return 4;
    default:
      return 1;
  }
}

/**
 * Computes one arithmetic node of a graph from its operands, with all that the contract says of special values.
 *
 * float32 operands that were computed have to be `opaque`, as `NodeLowering` gives them, where the node looks at their bits.
 *
 * @param operandTypes - of the operands, in their order
 */
export function arithmeticNode<V>(
  a: Arithmetic<V>,
  node: ArithmeticNode,
  operandTypes: readonly ValueType[],
  operands: readonly V[],
): V {
  // Operands have one type, but for the condition of a select, which comes first.
  const type = operandTypes.at(-1) as ValueType;
  const [x, y, z] = operands as [V, V, V];
  return LOWERINGS[node.op](a, type, x, y, z);
}
