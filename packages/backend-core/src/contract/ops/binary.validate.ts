import { type CheckedCall, checkDType, checkedExtent, checkOneOf, checkSize } from '../checks.ts';
import { BINARY_OPS, type BinaryOp, type BinaryShape } from './binary.ts';

/** A binary with its defaults filled in. */
export interface CheckedBinary extends CheckedCall {
  readonly op: BinaryOp;
  readonly n: number;
}

const INPUTS = ['a', 'b'];

/**
 * The rules of `binary`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkBinary(shape: BinaryShape): CheckedBinary | null {
  const op = checkOneOf('op', shape.op, BINARY_OPS);
  const { n } = shape;
  checkSize('n', n);
  const dtype = checkDType(shape.dtype);
  if (n === 0) return null;
  const elements = checkedExtent('a', n);
  return {
    op,
    n,
    dtype,
    operands: [
      { name: 'a', elements },
      { name: 'b', elements },
      { name: 'output', elements, output: true, mayAlias: INPUTS },
    ],
  };
}
