import { invalid } from '../../errors/invalid.ts';
import { type CheckedCall, checkDType, checkOneOf, checkSizes, packedExtent } from '../checks.ts';
import { REDUCE_OPS, type ReduceOp, type ReduceShape } from './reduce.ts';

/** A reduce as three sizes: `output[o, i] = op over a of input[o, a, i]`. */
export interface CheckedReduce extends CheckedCall {
  readonly op: ReduceOp;
  /** Product of the sizes before the axis. */
  readonly outer: number;
  /** Size of the axis; may be 0. */
  readonly axisLength: number;
  /** Product of the sizes behind the axis. */
  readonly inner: number;
}

/**
 * The rules of `reduce`.
 *
 * @returns null when there is nothing to do
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkReduce(call: ReduceShape, outputIsNull: boolean): CheckedReduce | null {
  const op = checkOneOf('op', call.op, REDUCE_OPS);
  const shape = checkSizes('shape', call.shape);
  const { axis } = call;
  if (!Number.isSafeInteger(axis)) throw invalid(`axis must be a safe integer, got ${String(axis)}`);
  const dtype = checkDType(call.dtype);

  if (shape.length === 0) throw invalid('shape must not be empty');
  const axisLength = shape[axis];
  if (axisLength === undefined) throw invalid(`axis ${axis} is out of bounds for shape of length ${shape.length}`);

  const before = shape.slice(0, axis);
  const behind = shape.slice(axis + 1);
  if (before.includes(0) || behind.includes(0)) return null;
  if (axisLength === 0 && outputIsNull) return null;

  const outer = packedExtent('output', before);
  const inner = packedExtent('output', behind);
  const operands = [
    { name: 'input', elements: packedExtent('input', shape) },
    { name: 'output', elements: packedExtent('output', [outer, inner]), output: true },
  ];
  return { op, outer, axisLength, inner, dtype, operands };
}
