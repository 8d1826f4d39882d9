import type { ArithmeticNode, NodeOp, ValueType } from '@concord/backend-core/kernel';
import { f32x4, i32x4, v128 } from '../../encoder/index.ts';
import { exp } from './exp.ts';
import { gelu, geluTanh, sigmoid, silu, tanh } from './logistic.ts';
import { exp2, log, log2, pow } from './subnormal-nodes.ts';
import type { Vector, WasmArithmetic } from './wasm-arithmetic.ts';

const ONE = 0x3f80_0000;
const INFINITY = 0x7f80_0000;

type Lowering = (a: WasmArithmetic, x: Vector, y: Vector) => Vector;

/** True for a constant that is not NaN. */
const isNumber = ({ bits }: Vector): boolean => bits !== undefined && (bits & 0x7fff_ffff) <= INFINITY;

/** The operand that may be NaN first: of it and a number `pmin` and `pmax` give NaN where it is, in one instruction. */
function extremum(op: 'min' | 'max'): Lowering {
  const [plain, whole] = op === 'min' ? ([f32x4.pmin, f32x4.min] as const) : ([f32x4.pmax, f32x4.max] as const);
  return (a, x, y) => {
    if (isNumber(y)) return a.keep(plain(x, y));
    return a.keep(isNumber(x) ? plain(y, x) : whole(x, y));
  };
}

/**
 * Nodes on float32 that are not the kernel package's: one or two instructions compute them as the contract wants them, special
 * values and all; or subnormal numbers are kept.
 */
const NATIVE: Partial<Record<NodeOp, Lowering>> = {
  div: (a, x, y) => a.divide(x, y),
  min: extremum('min'),
  max: extremum('max'),
  eq: (a, x, y) => a.keep(f32x4.eq(x, y)),
  ne: (a, x, y) => a.keep(f32x4.ne(x, y)),
  lt: (a, x, y) => a.keep(f32x4.lt(x, y)),
  le: (a, x, y) => a.keep(f32x4.le(x, y)),
  gt: (a, x, y) => a.keep(f32x4.gt(x, y)),
  ge: (a, x, y) => a.keep(f32x4.ge(x, y)),
  sqrt: (a, x) => a.sqrt(x),
  rsqrt: (a, x) => a.divide(a.constant('f32', ONE), a.sqrt(x)),
  exp: (a, x) => exp(a, x),
  exp2: (a, x) => exp2(a, x),
  log: (a, x) => log(a, x),
  log2: (a, x) => log2(a, x),
  gelu: (a, x) => gelu(a, x),
  pow: (a, x, y) => pow(a, x, y),
  sigmoid: (a, x) => sigmoid(a, x),
  silu: (a, x) => silu(a, x),
  geluTanh: (a, x) => geluTanh(a, x),
  tanh: (a, x) => tanh(a, x),
  floor: (a, x) => a.floor(x),
  ceil: (a, x) => a.ceil(x),
  round: (a, x) => a.roundEven(x),
  trunc: (a, x) => a.trunc(x),
  isNan: (a, x) => a.keep(f32x4.ne(x, x)),
  isFinite: (a, x) => a.keep(f32x4.lt(f32x4.abs(x), a.constant('f32', INFINITY))),
  toI32: (a, x) => a.keep(i32x4.truncSatF32x4S(x)),
  toU32: (a, x) => a.keep(i32x4.truncSatF32x4U(x)),
};

/**
 * A node that is computed here in another way than the kernel package has it; else undefined.
 *
 * @param type - of its operands
 */
export function nativeNode(
  a: WasmArithmetic,
  { op }: ArithmeticNode,
  type: ValueType,
  operands: readonly Vector[],
): Vector | undefined {
  const [x, y] = operands as [Vector, Vector];
  if (type === 'f32') return NATIVE[op]?.(a, x, y);
  if (op === 'toF32' && type === 'bool') return a.keep(v128.and(x, a.constant('f32', ONE)));
  return undefined;
}
