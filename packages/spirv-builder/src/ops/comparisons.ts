import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import { boolLike, expectKind, mapRows, opcodeFor, type Opcodes, pair } from '../operand-checks.ts';
import type { Operand, Value } from '../value.ts';

/** Compares two numbers: a bool, or one per component of vectors. A literal takes the type of the other operand. */
export interface ComparisonOps {
  /** a < b of floats; false for NaN. */
  lt(a: Operand, b: Operand): Value;
  /** a <= b of floats; false for NaN. */
  le(a: Operand, b: Operand): Value;
  /** a > b of floats; false for NaN. */
  gt(a: Operand, b: Operand): Value;
  /** a >= b of floats; false for NaN. */
  ge(a: Operand, b: Operand): Value;
  /** a < b of unsigned integers. */
  ult(a: Operand, b: Operand): Value;
  /** a <= b of unsigned integers. */
  ule(a: Operand, b: Operand): Value;
  /** a > b of unsigned integers. */
  ugt(a: Operand, b: Operand): Value;
  /** a >= b of unsigned integers. */
  uge(a: Operand, b: Operand): Value;
  /** a < b of signed integers. */
  slt(a: Operand, b: Operand): Value;
  /** a <= b of signed integers. */
  sle(a: Operand, b: Operand): Value;
  /** a > b of signed integers. */
  sgt(a: Operand, b: Operand): Value;
  /** a >= b of signed integers. */
  sge(a: Operand, b: Operand): Value;
  /** Returns whether a float is NaN. */
  isNan(a: Value): Value;
}

const COMPARISONS = {
  lt: { float: Op.FOrdLessThan },
  le: { float: Op.FOrdLessThanEqual },
  gt: { float: Op.FOrdGreaterThan },
  ge: { float: Op.FOrdGreaterThanEqual },
  ult: { int: Op.ULessThan },
  ule: { int: Op.ULessThanEqual },
  ugt: { int: Op.UGreaterThan },
  uge: { int: Op.UGreaterThanEqual },
  slt: { int: Op.SLessThan },
  sle: { int: Op.SLessThanEqual },
  sgt: { int: Op.SGreaterThan },
  sge: { int: Op.SGreaterThanEqual },
} satisfies Record<string, Opcodes>;

/** Comparisons in a function. */
export function comparisonOps(body: FunctionBody): ComparisonOps {
  return {
    ...mapRows(COMPARISONS, (name, opcodes: Opcodes) => (a: Operand, b: Operand) => {
      const [x, y] = pair(body, a, b, name);
      return body.emit(opcodeFor(body, x, opcodes, name), boolLike(body, x.type), x.id, y.id);
    }),
    isNan: (a) => {
      expectKind(body, body.use(a, 'isNan', 'operand'), ['float'], 'isNan');
      return body.emit(Op.IsNan, boolLike(body, a.type), a.id);
    },
  };
}
