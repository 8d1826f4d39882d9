import { checkDType, checkOneOf, checkSizes, describe, packedExtent } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { REDUCE_OPS, type ReduceOp } from '../contract/function-names.ts';
import { invalid } from '../errors/invalid.ts';
import { reduceKernel } from '../kernel/built-ins.ts';
import { assertRunSize } from '../kernel/run-size.ts';
import { checkedRun } from '../kernel/same-run.ts';
import type { CheckedCall, DerivedDefinition } from './op-definition.ts';

/**
 * Shape of a reduction along one axis of a packed row-major tensor. The output is the shape without that axis. An
 * empty axis writes 0 (sum), -Infinity (max), +Infinity (min), NaN (mean). The axis, and the products of the sizes before
 * and after it, are below 2^32; larger ones are UNSUPPORTED.
 */
export interface ReduceShape {
  readonly op: ReduceOp;
  readonly shape: readonly number[];
  /** `0 <= axis < shape.length` */
  readonly axis: number;
  readonly dtype?: 'f32';
}

/** Arguments of `reduce`. */
export interface ReduceCall extends ReduceShape {
  readonly input: DevicePtr;
  readonly output: DevicePtr;
}

/** A reduce as three sizes: `output[o, i] = op over a of input[o, a, i]`. */
export interface CheckedReduce extends CheckedCall {
  readonly op: ReduceOp;
  /** Product of the sizes before the axis. */
  readonly outer: number;
  /** Size of the axis; may be 0. */
  readonly axisLength: number;
  /** Product of the sizes after the axis. */
  readonly inner: number;
}

/** `reduce`, a `run` of the kernel of its fold. */
export const reduce: DerivedDefinition<ReduceShape, CheckedReduce> = {
  kernel: 'run',
  functions: REDUCE_OPS,
  operands: ['input', 'output'],
  output: 'output',
  fields: { op: 'word', shape: 'sizes', axis: 'axis', dtype: 'word' },
  read: ({ op, shape, axis, dtype, input, output }) => [op, shape, axis, dtype, input, output],
  dtypes: ['f32'],
  check,
  asRun: ({ op, outer, axisLength, inner }) =>
    checkedRun(reduceKernel(op), {
      shape: [outer, inner, axisLength],
      folded: 1,
      inputs: { input: { strides: [axisLength * inner, 1, inner] } },
      outputs: {},
    }),
  cost: ({ outer, axisLength, inner }) => ({
    operations: outer * axisLength * inner,
    bytes: 4 * outer * (axisLength + 1) * inner,
  }),
  sample: {
    shape: { op: 'sum', shape: [3, 4], axis: 1 },
    nothingToDo: [
      { shape: [4, 0], axis: 0 },
      { shape: [0, 4], axis: 1, op: 'mean' },
    ],
  },
};

function check(call: ReduceShape, outputIsNull: boolean): CheckedReduce | null {
  const op = checkOneOf('op', call.op, REDUCE_OPS);
  const shape = checkSizes('shape', call.shape);
  const { axis } = call;
  if (!Number.isSafeInteger(axis)) throw invalid(`axis must be a safe integer, got ${describe(axis)}`);
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
    { name: 'input', dtype, elements: packedExtent('input', shape) },
    { name: 'output', dtype, elements: packedExtent('output', [outer, inner]), output: true },
  ];
  assertRunSize('the product of the sizes of shape before axis', outer);
  assertRunSize(`shape[${axis}]`, axisLength);
  assertRunSize('the product of the sizes of shape after axis', inner);
  return { op, outer, axisLength, inner, dtype, operands };
}
