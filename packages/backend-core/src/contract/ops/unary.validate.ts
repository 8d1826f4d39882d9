import { type CheckedCall, checkDType, checkedExtent, checkOneOf, checkSize } from '../checks.ts';
import { UNARY_OPS, type UnaryOp, type UnaryShape } from './unary.ts';

/** A unary with its defaults filled in. */
export interface CheckedUnary extends CheckedCall {
  readonly op: UnaryOp;
  readonly n: number;
}

const INPUTS = ['input'];

/**
 * The rules of `unary`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkUnary(shape: UnaryShape): CheckedUnary | null {
  const op = checkOneOf('op', shape.op, UNARY_OPS);
  const { n } = shape;
  checkSize('n', n);
  const dtype = checkDType(shape.dtype);
  if (n === 0) return null;
  const elements = checkedExtent('input', n);
  return {
    op,
    n,
    dtype,
    operands: [
      { name: 'input', elements },
      { name: 'output', elements, output: true, mayAlias: INPUTS },
    ],
  };
}
