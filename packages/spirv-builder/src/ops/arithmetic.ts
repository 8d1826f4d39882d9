import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/spirv.ts';
import type { Operand, Value } from '../value.ts';
import { binaryOps, opcodeFor, type Opcodes } from '../operand-checks.ts';

/** Numbers from numbers. Operands have one type, scalar or vector; a literal takes that of the other. */
export interface ArithmeticOps {
  /** a + b, of integers (modulo 2^width) or floats. */
  add(a: Operand, b: Operand): Value;
  /** a - b, of integers (modulo 2^width) or floats. */
  sub(a: Operand, b: Operand): Value;
  /** a * b, of integers (modulo 2^width) or floats. */
  mul(a: Operand, b: Operand): Value;
  /** -a, of integers (modulo 2^width) or floats. */
  neg(a: Value): Value;
  /** a / b of floats. */
  div(a: Operand, b: Operand): Value;
  /** The remainder of floats, with the sign of a. */
  rem(a: Operand, b: Operand): Value;
  /** a / b of unsigned integers; undefined for b = 0. */
  udiv(a: Operand, b: Operand): Value;
  /** a / b of signed integers, towards zero; undefined for b = 0, and for the smallest integer by -1. */
  sdiv(a: Operand, b: Operand): Value;
  /** The remainder of unsigned integers; undefined for b = 0. */
  umod(a: Operand, b: Operand): Value;
  /** The remainder of signed integers, with the sign of a; undefined where `sdiv` is. */
  srem(a: Operand, b: Operand): Value;
  /** Shifts left. A shift by the width or more is undefined. */
  shl(a: Operand, bits: Operand): Value;
  /** Shifts right and fills with zeros. A shift by the width or more is undefined. */
  lshr(a: Operand, bits: Operand): Value;
  /** Shifts right and fills with the sign. A shift by the width or more is undefined. */
  ashr(a: Operand, bits: Operand): Value;
}

const BINARY = {
  add: { int: Op.IAdd, float: Op.FAdd },
  sub: { int: Op.ISub, float: Op.FSub },
  mul: { int: Op.IMul, float: Op.FMul },
  div: { float: Op.FDiv },
  rem: { float: Op.FRem },
  udiv: { int: Op.UDiv },
  sdiv: { int: Op.SDiv },
  umod: { int: Op.UMod },
  srem: { int: Op.SRem },
  shl: { int: Op.ShiftLeftLogical },
  lshr: { int: Op.ShiftRightLogical },
  ashr: { int: Op.ShiftRightArithmetic },
} satisfies Record<string, Opcodes>;

const NEG: Opcodes = { int: Op.SNegate, float: Op.FNegate };

/** Arithmetic in a function. */
export function arithmeticOps(body: FunctionBody): ArithmeticOps {
  return {
    ...binaryOps(body, BINARY),
    neg: (a) => body.emit(opcodeFor(body, body.use(a, 'neg', 'operand'), NEG, 'neg'), a.type, a.id),
  };
}
