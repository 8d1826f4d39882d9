import { BINARY_OPS, type BinaryOp, REDUCE_OPS, type ReduceOp, UNARY_OPS, type UnaryOp } from '@concord/backend-core';
import type { Operand, ResolvedRun } from '@concord/backend-core/implement';
import { binaryKernel, reduceKernel, unaryKernel } from '@concord/backend-core/kernel';
import { inKernel, type Mutant } from './mutant.ts';

type Run = ResolvedRun<ArrayBuffer>;

/** A `run` of the kernel of a unary function. */
export interface UnaryRun {
  readonly op: UnaryOp;
  readonly n: number;
  readonly input: Operand<ArrayBuffer>;
  readonly output: Operand<ArrayBuffer>;
}

/** A `run` of the kernel of a binary function. */
export interface BinaryRun {
  readonly op: BinaryOp;
  readonly n: number;
  readonly a: Operand<ArrayBuffer>;
  readonly b: Operand<ArrayBuffer>;
  readonly output: Operand<ArrayBuffer>;
}

/** A `run` of the kernel of a reduction: over the middle axis of [outer, axisLength, inner]. */
export interface ReduceRun {
  readonly op: ReduceOp;
  readonly outer: number;
  readonly axisLength: number;
  readonly inner: number;
  /** Undefined where it has no elements. */
  readonly input: Operand<ArrayBuffer> | undefined;
  readonly output: Operand<ArrayBuffer>;
}

/** Replaces `unary`, which is a `run` of built-in kernels. */
export function inUnary(bug: (call: UnaryRun, run: () => void) => void): Mutant['wrap'] {
  return inRunOf(UNARY_OPS, unaryKernel, (op, { geometry, inputs, outputs }, run) => {
    const [input] = inputs as readonly Operand<ArrayBuffer>[];
    bug({ op, n: geometry.rowCount, input: input as Operand<ArrayBuffer>, output: only(outputs) }, run);
  });
}

/** Replaces `binary`, which is a `run` of built-in kernels. */
export function inBinary(bug: (call: BinaryRun, run: () => void) => void): Mutant['wrap'] {
  return inRunOf(BINARY_OPS, binaryKernel, (op, { geometry, inputs, outputs }, run) => {
    const [a, b] = inputs as readonly [Operand<ArrayBuffer>, Operand<ArrayBuffer>];
    bug({ op, n: geometry.rowCount, a, b, output: only(outputs) }, run);
  });
}

/** Replaces `reduce`, which is a `run` of built-in kernels. */
export function inReduce(bug: (call: ReduceRun, run: () => void) => void): Mutant['wrap'] {
  return inRunOf(REDUCE_OPS, reduceKernel, (op, { geometry, inputs, outputs }, run) => {
    const [outer, inner, axisLength] = geometry.shape as readonly [number, number, number];
    bug({ op, outer, inner, axisLength, input: inputs[0], output: only(outputs) }, run);
  });
}

/** Replaces what is left of a product with k = 0 or alpha = 0: a `run` that multiplies C by beta, or stores zeros. */
export function inScale(bug: (call: Run, run: (call: Run) => void) => void): Mutant['wrap'] {
  return inKernel('run', (call, run) => {
    if (call.geometry.kernel.name === 'scale') bug(call, run);
    else run(call);
  });
}

function inRunOf<Op extends string>(
  ops: readonly Op[],
  kernelOf: (op: Op) => Run['geometry']['kernel'],
  bug: (op: Op, call: Run, run: () => void) => void,
): Mutant['wrap'] {
  return inKernel('run', (call, run) => {
    const op = ops.find((name) => kernelOf(name) === call.geometry.kernel);
    if (op === undefined) run(call);
    else bug(op, call, () => run(call));
  });
}

function only(outputs: Run['outputs']): Operand<ArrayBuffer> {
  return outputs[0] as Operand<ArrayBuffer>;
}
