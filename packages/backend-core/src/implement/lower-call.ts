import type { OpName } from '../contract/capabilities.ts';
import type { CheckedRun, RunLayout } from '../kernel/checked-run.ts';
import { MAX_SIZE } from '../kernel/run-size.ts';
import { checkedRun } from '../kernel/same-run.ts';
import { scaledKernel } from '../kernel/scaled-kernel.ts';
import type { CheckedEpilogue } from '../ops/epilogue.ts';
import type { CheckedGemm } from '../ops/gemm.ts';
import { type DefinedOp, OPS } from '../ops/index.ts';
import type { CheckedCall, DerivedDefinition } from '../ops/op-definition.ts';
import { type PlannedKernels, kernelOf, type KernelCall } from './backend-kernels.ts';

/** One kernel that a call runs. */
export type LoweredStep = PrimitiveStep | RunStep;

/** A kernel that gets the call's own operands. */
export type PrimitiveStep = Exclude<KernelCall, { kernel: 'run' }> & {
  /** Scalars, as in a {@link RunStep}. Default: all that the op has. */
  readonly scalars?: RunStep['scalars'];
};

/** A `run` on the call's operands, by their names. */
export interface RunStep {
  readonly kernel: 'run';
  readonly call: CheckedRun;
  /** Names in the order of the kernel's inputs. */
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
  /** Parameters after those of the call's epilogue: scalars of the call by name, or numbers. */
  readonly scalars: readonly (string | number)[];
  /** See {@link KernelCall}. */
  readonly inPlaceOf: readonly number[];
}

/** The kernels that a checked call runs, in their order; none where nothing is to be done. */
export function lowerCall(op: DefinedOp, checked: CheckedCall, kernels: PlannedKernels<never>): readonly LoweredStep[] {
  const definition = OPS[op];
  if (definition.kernel === 'run') return [derivedStep(op, checked)];
  const { kernel, output } = definition;
  const step = { kernel, call: checked } as unknown as PrimitiveStep;
  if (step.kernel !== 'gemm' || !isScale(step.call)) return withEpilogue(step, output, kernels);
  const steps = isDomain(step.call) ? scaleSteps(step.call) : undefined;
  if (steps?.every(({ call }) => runs(kernels, call)) === true) return steps;
  // Loops over k do nothing for k = 0: where `run` is missing, or knows other kernels, dtypes or sizes
  // only, the product does it.
  const scaled = { ...step.call, k: 0, alpha: 0, dtypeB: undefined, quantB: undefined, needs: [] };
  return withEpilogue({ kernel: 'gemm', call: scaled, scalars: [0, 'beta'] }, output, kernels);
}

/** Returns whether a backend has a kernel for these dtypes, if not the memory for it. */
function runs({ run }: PlannedKernels<never>, call: CheckedRun): boolean {
  if (run === undefined) return false;
  const isStored = ({ dtype }: RunLayout): boolean => run.dtypes.includes(dtype);
  if (!call.inputs.every(isStored) || !call.outputs.every(isStored)) return false;
  return run.covers !== 'some' || run.refuse?.(call) === undefined;
}

/** A primitive, and a `run` after it for an epilogue that its kernel does not apply itself. */
function withEpilogue(step: PrimitiveStep, output: string, kernels: PlannedKernels<never>): readonly LoweredStep[] {
  const { epilogue, operands } = step.call as CheckedCall & { readonly epilogue?: CheckedEpilogue };
  if (epilogue === undefined || kernelOf(kernels, step.kernel)?.features?.includes('epilogues') === true) return [step];
  const own = operands.filter(({ name }) => !name.startsWith('epilogue.'));
  const product = { ...step, call: { ...step.call, epilogue: undefined, operands: own } } as PrimitiveStep;
  return [product, epilogueStep(epilogue, output)];
}

function derivedStep(op: OpName, checked: CheckedCall): RunStep {
  const definition = OPS[op as DefinedOp] as unknown as DerivedDefinition<object, CheckedCall>;
  const { operands } = definition;
  return {
    kernel: 'run',
    call: definition.asRun(checked),
    inputs: operands.slice(0, -1),
    outputs: operands.slice(-1),
    scalars: [],
    inPlaceOf: [-1],
  };
}

/** Returns whether a product is `C = beta C` alone. */
function isScale({ k, alpha }: CheckedGemm): boolean {
  return k === 0 || alpha === 0;
}

/** Returns whether the sizes of C may be those of a `run`. */
function isDomain({ m, n, batchCount }: CheckedGemm): boolean {
  return Math.max(m, n, batchCount) <= MAX_SIZE;
}

function scaleSteps({ m, n, ldc, strideC, batchCount, beta, dtype, epilogue }: CheckedGemm): readonly RunStep[] {
  if (beta === 1 && epilogue === undefined) return [];
  const kernel = scaledKernel(epilogue?.kernel, beta !== 0);
  const strides = [strideC, ldc, 1];
  const layouts = epilogue?.geometry.inputs.map(({ name, strides: own, dtype: stored }) => [
    name,
    name === 'acc' ? { strides, dtype } : { strides: own, dtype: stored },
  ]) ?? [['acc', { strides, dtype }]];
  const [output] = kernel.outputs;
  const call = checkedRun(kernel, {
    shape: [batchCount, m, n],
    inputs: Object.fromEntries(layouts),
    outputs: { [output?.name as string]: { strides, dtype } },
  });
  const inputs = kernel.inputs.map(({ name }) => operandName(name, 'c'));
  const scalars = beta === 0 ? [] : ['beta'];
  return [{ kernel: 'run', call, inputs, outputs: ['c'], scalars, inPlaceOf: [inputs.indexOf('c')] }];
}

/** The epilogue in place: `acc` is what the product stored. */
function epilogueStep({ kernel, geometry }: CheckedEpilogue, output: string): RunStep {
  const inputs = kernel.inputs.map(({ name }) => operandName(name, output));
  return {
    kernel: 'run',
    call: geometry,
    inputs,
    outputs: [output],
    scalars: [],
    inPlaceOf: [inputs.indexOf(output)],
  };
}

function operandName(input: string, output: string): string {
  return input === 'acc' ? output : `epilogue.${input}`;
}
