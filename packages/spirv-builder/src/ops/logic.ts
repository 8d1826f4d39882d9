import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import { binaryOps, boolLike, expectKind, opcodeFor, type Opcodes, pair } from '../operand-checks.ts';
import { componentOf, nameOf, type VectorType } from '../type.ts';
import type { Operand, Value } from '../value.ts';
import { spread } from './vectors.ts';

/** Bits and booleans, equality, and choice. */
export interface LogicOps {
  /** The bits that both integers have, or whether both booleans are true. */
  and(a: Operand, b: Operand): Value;
  /** The bits that either integer has, or whether either boolean is true. */
  or(a: Operand, b: Operand): Value;
  /** The bits that one of two integers has, or whether one of two booleans is true. */
  xor(a: Operand, b: Operand): Value;
  /** The bits that an integer does not have, or whether a boolean is false. */
  not(a: Value): Value;
  /** Equal. NaN equals nothing. */
  eq(a: Operand, b: Operand): Value;
  /** True if the operands differ. NaN differs from everything. */
  ne(a: Operand, b: Operand): Value;
  /** `a` where the condition holds, else `b`. The condition is a bool, or one per component of a vector. */
  select(condition: Value, a: Operand, b: Operand): Value;
}

const BINARY = {
  and: { int: Op.BitwiseAnd, bool: Op.LogicalAnd },
  or: { int: Op.BitwiseOr, bool: Op.LogicalOr },
} satisfies Record<string, Opcodes>;

const EQ: Opcodes = { int: Op.IEqual, float: Op.FOrdEqual };
const NE: Opcodes = { int: Op.INotEqual, float: Op.FUnordNotEqual };

/** Logic in a function. */
export function logicOps(body: FunctionBody): LogicOps {
  const select = (condition: Value, a: Operand, b: Operand): Value => {
    const [x, y] = pair(body, a, b, 'select');
    expectKind(body, x, ['int', 'float', 'bool', 'pointer'], 'select');
    let chosen = body.use(condition, 'select', 'condition');
    // Before SPIR-V 1.4 a vector is selected component by component only.
    if (x.type.kind === 'vector' && chosen.type.kind === 'bool') {
      chosen = spread(body, boolLike(body, x.type) as VectorType, chosen);
    }
    if (chosen.type !== boolLike(body, x.type)) {
      throw body.error('select', `condition is ${nameOf(chosen.type)} for operands of ${nameOf(x.type)}`);
    }
    return body.emit(Op.Select, x.type, chosen.id, x.id, y.id);
  };
  // Of booleans, choices: Intel's compilers of before 2023, which Debian 12 and its like still ship, end the process on
  // OpLogicalNot, and on OpLogicalEqual and OpLogicalNotEqual of vectors.
  const inverse = (a: Value): Value => select(a, body.constant(a.type, false), true);
  const differ = (a: Value, b: Value): Value => select(a, inverse(b), b);
  const equality = (name: string, opcodes: Opcodes, ofBooleans: (a: Value, b: Value) => Value) => {
    return (a: Operand, b: Operand): Value => {
      const [x, y] = pair(body, a, b, name);
      expectKind(body, x, ['int', 'float', 'bool'], name);
      if (isBoolean(x)) return ofBooleans(x, y);
      return body.emit(opcodeFor(body, x, opcodes, name), boolLike(body, x.type), x.id, y.id);
    };
  };
  return {
    ...binaryOps(body, BINARY),
    xor: (a, b) => {
      const [x, y] = pair(body, a, b, 'xor');
      expectKind(body, x, ['int', 'bool'], 'xor');
      return isBoolean(x) ? differ(x, y) : body.emit(Op.BitwiseXor, x.type, x.id, y.id);
    },
    not: (a) => {
      expectKind(body, body.use(a, 'not', 'operand'), ['int', 'bool'], 'not');
      return isBoolean(a) ? inverse(a) : body.emit(Op.Not, a.type, a.id);
    },
    eq: equality('eq', EQ, (a, b) => inverse(differ(a, b))),
    ne: equality('ne', NE, differ),
    select,
  };
}

const isBoolean = ({ type }: Value): boolean => componentOf(type).kind === 'bool';
