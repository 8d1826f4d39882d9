import { checkDType, checkedExtent, checkOneOf, checkSize } from '../contract/checks.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { BINARY_OPS, type BinaryOp } from '../contract/function-names.ts';
import { binaryKernel } from '../kernel/built-ins.ts';
import { assertRunSize } from '../kernel/run-size.ts';
import { checkedRun } from '../kernel/same-run.ts';
import type { CheckedCall, DerivedDefinition } from './op-definition.ts';

/** Shape of an element-wise function of two arguments: `output[i] = op(a[i], b[i])` for i in 0..n-1. */
export interface BinaryShape {
  readonly op: BinaryOp;
  /** The number of elements, below 2^32; a larger one is UNSUPPORTED. */
  readonly n: number;
  readonly dtype?: 'f32';
}

/** Arguments of `binary`. `output` may be exactly `a` or exactly `b`. */
export interface BinaryCall extends BinaryShape {
  readonly a: DevicePtr;
  readonly b: DevicePtr;
  readonly output: DevicePtr;
}

/** A binary with its defaults filled in. */
export interface CheckedBinary extends CheckedCall {
  readonly op: BinaryOp;
  readonly n: number;
}

const IN_PLACE_OF = ['a', 'b'];

/** `binary`, a `run` of the kernel of its function. */
export const binary: DerivedDefinition<BinaryShape, CheckedBinary> = {
  kernel: 'run',
  functions: BINARY_OPS,
  operands: ['a', 'b', 'output'],
  output: 'output',
  fields: { op: 'word', n: 'size', dtype: 'word' },
  read: ({ op, n, dtype, a, b, output }) => [op, n, dtype, a, b, output],
  dtypes: ['f32'],
  check: (shape) => {
    const op = checkOneOf('op', shape.op, BINARY_OPS);
    const { n } = shape;
    checkSize('n', n);
    const dtype = checkDType(shape.dtype);
    if (n === 0) return null;
    const elements = checkedExtent('a', n);
    assertRunSize('n', n);
    const operands = [
      { name: 'a', dtype, elements },
      { name: 'b', dtype, elements },
      { name: 'output', dtype, elements, output: true, mayAlias: IN_PLACE_OF },
    ];
    return { op, n, dtype, operands };
  },
  asRun: ({ op, n }) => checkedRun(binaryKernel(op), { shape: [n], inputs: {}, outputs: {} }),
  cost: ({ n }) => ({ operations: n, bytes: 12 * n }),
  sample: { shape: { op: 'add', n: 7 }, nothingToDo: [{ n: 0 }] },
};
