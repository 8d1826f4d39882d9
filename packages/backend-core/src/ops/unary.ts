import { checkDType, checkedExtent, checkOneOf, checkSize } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { UNARY_OPS, type UnaryOp } from '../contract/function-names.ts';
import { unaryKernel } from '../kernel/built-ins.ts';
import { assertRunSize } from '../kernel/run-size.ts';
import { checkedRun } from '../kernel/same-run.ts';
import type { CheckedCall, DerivedDefinition } from './op-definition.ts';

/** Shape of an element-wise function: `output[i] = op(input[i])` for i in 0..n-1. */
export interface UnaryShape {
  readonly op: UnaryOp;
  /** The number of elements, below 2^32; a larger one is UNSUPPORTED. */
  readonly n: number;
  readonly dtype?: 'f32';
}

/** Arguments of `unary`. `output` may be exactly `input`. */
export interface UnaryCall extends UnaryShape {
  readonly input: DevicePtr;
  readonly output: DevicePtr;
}

/** A unary with its defaults filled in. */
export interface CheckedUnary extends CheckedCall {
  readonly op: UnaryOp;
  readonly n: number;
}

const IN_PLACE_OF = ['input'];

/** `unary`, a `run` of the kernel of its function. */
export const unary: DerivedDefinition<UnaryShape, CheckedUnary> = {
  kernel: 'run',
  functions: UNARY_OPS,
  operands: ['input', 'output'],
  output: 'output',
  fields: { op: 'word', n: 'size', dtype: 'word' },
  read: ({ op, n, dtype, input, output }) => [op, n, dtype, input, output],
  dtypes: ['f32'],
  check: (shape) => {
    const op = checkOneOf('op', shape.op, UNARY_OPS);
    const { n } = shape;
    checkSize('n', n);
    const dtype = checkDType(shape.dtype);
    if (n === 0) return null;
    const elements = checkedExtent('input', n);
    assertRunSize('n', n);
    const operands = [
      { name: 'input', dtype, elements },
      { name: 'output', dtype, elements, output: true, mayAlias: IN_PLACE_OF },
    ];
    return { op, n, dtype, operands };
  },
  asRun: ({ op, n }) => checkedRun(unaryKernel(op), { shape: [n], inputs: {}, outputs: {} }),
  cost: ({ n }) => ({ operations: n, bytes: 8 * n }),
  sample: { shape: { op: 'neg', n: 7 }, nothingToDo: [{ n: 0 }] },
};
