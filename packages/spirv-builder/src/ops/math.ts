import type { FunctionBody } from '../function-body.ts';
import { Op } from '../generated/opcodes.ts';
import { OpenCl } from '../generated/open-cl.ts';
import { MATH, type MathFunction } from '../math-functions.ts';
import { componentOf, nameOf } from '../type.ts';
import type { Operand, Value } from '../value.ts';

/** Functions of the OpenCL extended instruction set. */
export interface MathOps {
  /**
   * A function of the OpenCL extended instruction set, such as `math('exp', x)` or `math('u_mul_hi', a, b)`: all operands and
   * the result have one type.
   */
  math(name: MathFunction, ...operands: readonly [Value, ...Operand[]]): Value;
  /** a * b + c with one rounding. */
  fma(a: Value, b: Operand, c: Operand): Value;
}

/** Mathematical functions in a function. */
export function mathOps(body: FunctionBody): MathOps {
  const math: MathOps['math'] = (name, ...operands) => {
    const known = MATH.get(name);
    if (known === undefined) throw body.error('math', `there is no ${name} of numbers of one type`);
    const { kind, count, width } = known;
    if (operands.length !== count) throw body.error(name, `takes ${count} operands, got ${operands.length}`);
    const { type } = body.use(operands[0], name, 'operand 1');
    const component = componentOf(type);
    if (component.kind !== kind || (width !== undefined && component.width !== width)) {
      throw body.error(name, `takes ${width === undefined ? kind : `${width}-bit ${kind}`}, got ${nameOf(type)}`);
    }
    const ids = operands.map((each, index) => body.operand(each, type, name, `operand ${index + 1}`).id);
    return body.emit(Op.ExtInst, type, body.context.openCl(), OpenCl[name], ...ids);
  };
  return { math, fma: (a, b, c) => math('fma', a, b, c) };
}
