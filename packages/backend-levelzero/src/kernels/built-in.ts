import type { BinaryOp, FloatDType, OpName, ReduceOp, UnaryOp } from '@concord/backend-core';
import type { CheckedRun, Operand, ResolvedRun } from '@concord/backend-core/implement';
import { builtInOf } from '@concord/backend-core/kernel';
import { planBinary } from './binary/plan.ts';
import { planScale } from './gemm/plan.ts';
import type { DeviceMemory, Recorder } from './recorder.ts';
import { planReduce } from './reduce/plan.ts';
import { planUnary } from './unary/plan.ts';

/** Why a kernel cannot run here yet. */
export function refuseBuiltIn({ kernel }: CheckedRun): string | undefined {
  return builtInOf(kernel) === undefined && kernel.name !== 'scale'
    ? `kernel ${kernel.name} is not built in`
    : undefined;
}

/** Plans a `run` of a kernel that unary, binary or reduce made. */
export function planBuiltIn(call: ResolvedRun<DeviceMemory>, recorder: Recorder): void {
  const { geometry, inputs, outputs, params } = call;
  const builtIn = builtInOf(geometry.kernel);
  const [first, second] = inputs;
  const [output] = outputs;
  const [outer = 0, inner = 0, axisLength = 0] = geometry.shape;
  const common = { dtype: 'f32', n: outer, output };
  if (builtIn === undefined) {
    const { strides, dtype } = geometry.outputs[0]!;
    const [strideC, ldc] = strides;
    const sizes = { batchCount: outer, m: inner, n: axisLength, ldc, strideC };
    planScale({ ...sizes, beta: params[0] ?? 0, dtype, c: output, opName: 'gemm' } as never, recorder);
  } else if (builtIn.op === 'unary') {
    planUnary({ ...common, op: builtIn.function, input: first } as never, recorder);
  } else if (builtIn.op === 'binary') {
    planBinary({ ...common, op: builtIn.function, a: first, b: second } as never, recorder);
  } else {
    planReduce({ ...common, op: builtIn.function, outer, inner, axisLength, input: first } as never, recorder);
  }
}

type Of<Names extends string, Rest> = { readonly [Name in Names]: Operand<DeviceMemory> } & Rest & {
    readonly opName: OpName;
  };
export type ResolvedUnary<_Buffer> = Of<'input' | 'output', { readonly op: UnaryOp; readonly n: number }>;
export type ResolvedBinary<_Buffer> = Of<'a' | 'b' | 'output', { readonly op: BinaryOp; readonly n: number }>;
export type ResolvedReduce<_Buffer> = Of<
  'output',
  {
    readonly op: ReduceOp;
    readonly outer: number;
    readonly inner: number;
    readonly axisLength: number;
    readonly input: Operand<DeviceMemory> | undefined;
  }
>;
export type ResolvedScale<_Buffer> = Of<
  'c',
  {
    readonly m: number;
    readonly n: number;
    readonly beta: number;
    readonly ldc: number;
    readonly strideC: number;
    readonly batchCount: number;
    readonly dtype: FloatDType;
  }
>;
