import type { OpName } from '../contract/capabilities.ts';
import type { DType } from '../contract/element-types.ts';
import type { CheckedRun, ResolvedRun, RunLayout } from '../kernel/checked-run.ts';
import type { CheckedAttention } from '../ops/attention.ts';
import type { CheckedConv2d } from '../ops/conv2d.ts';
import type { CheckedEpilogue } from '../ops/epilogue.ts';
import type { CheckedGemm } from '../ops/gemm.ts';
import { OPS } from '../ops/index.ts';
import type { CheckedCall, Feature, KernelName, OpDefinition } from '../ops/op-definition.ts';
import type { CheckedTopK } from '../ops/top-k.ts';
import type { Operand } from './operand.ts';

/** A checked call with an operand in the device's memory for each pointer that it had. */
export type WithOperands<Checked, Names extends string, Buffer> = Checked & {
  readonly [Name in Names]: Operand<Buffer>;
} & {
  /** The method that was called, for messages. */
  readonly opName: OpName;
};

/**
 * A checked product with k > 0 and alpha != 0; with both 0 only where the backend's `run` is missing or does not take
 * `beta C`. `a` and `b` are not read then: they are there where the call's own k is above 0. The inputs of an epilogue are
 * operands too, under the names that `operands` gives them, such as `epilogue.bias`.
 */
export type ResolvedGemm<Buffer> = WithOperands<CheckedGemm, 'a' | 'b' | 'c', Buffer> & {
  readonly [Name in 'quantB.scales' | 'quantB.zeros' | 'quantB.offsets']?: Operand<Buffer>;
};
/** A checked `conv2dForward`; an epilogue's inputs as {@link ResolvedGemm}'s. */
export type ResolvedConv2d<Buffer> = WithOperands<CheckedConv2d, 'input' | 'filter' | 'output', Buffer>;
/** A checked `attention`; `mask`, `lengths` and `starts` are there where their strides are, `lse` where it is wanted. */
export type ResolvedAttention<Buffer> = WithOperands<CheckedAttention, 'q' | 'k' | 'v' | 'o', Buffer> & {
  readonly mask?: Operand<Buffer>;
  readonly lengths?: Operand<Buffer>;
  readonly starts?: Operand<Buffer>;
  readonly lse?: Operand<Buffer>;
};
/** A checked `topK`. */
export type ResolvedTopK<Buffer> = WithOperands<CheckedTopK, 'input' | 'values' | 'indices', Buffer>;

/** A backend's implementation of one of the contract's five primitives. */
export interface OpKernel<Checked, Resolved, Wanted extends Feature = never> {
  /** Element types that it takes; a call in another is UNSUPPORTED. */
  readonly dtypes: readonly DType[];
  /** Features beyond those of every kernel of its name; a call that needs another is UNSUPPORTED. Default: none. */
  readonly features?: readonly Wanted[];
  /** Why this device cannot run a checked call, beyond dtypes and limits. Default: it can. */
  refuse?(call: Checked): string | undefined;
  /**
   * Compiles what a checked call needs.
   *
   * @param inPlaceOf - of a `run`: see {@link KernelCall}
   */
  prepare?(call: Checked, inPlaceOf?: readonly number[]): Promise<void>;
  /** Queues a checked call; it takes effect in call order. */
  run(call: Resolved): void;
}

/** `run`. */
export interface RunKernel<Buffer> extends OpKernel<CheckedRun, ResolvedRun<Buffer>, Feature<'run'>> {
  /** `some` where `refuse` refuses kernels that are not beyond a size of the device. Default: `all`. */
  readonly covers?: 'all' | 'some';
}

/** The kernels of a backend: each primitive that it leaves out is UNSUPPORTED. `run` brings unary, binary and reduce. */
export interface BackendKernels<Buffer> {
  readonly gemm?: OpKernel<CheckedGemm, ResolvedGemm<Buffer>, Feature<'gemm'>>;
  readonly conv2dForward?: OpKernel<CheckedConv2d, ResolvedConv2d<Buffer>, Feature<'conv2dForward'>>;
  readonly attention?: OpKernel<CheckedAttention, ResolvedAttention<Buffer>, Feature<'attention'>>;
  readonly topK?: OpKernel<CheckedTopK, ResolvedTopK<Buffer>>;
  readonly run?: RunKernel<Buffer>;
}

/** The same for a backend that overrides `doLaunch`, whose kernels need no `run`. */
export type PlannedKernels<Buffer> = {
  readonly [Name in keyof BackendKernels<Buffer>]: Omit<NonNullable<BackendKernels<Buffer>[Name]>, 'run'> &
    Partial<Pick<NonNullable<BackendKernels<Buffer>[Name]>, 'run'>>;
};

/** A checked call by the kernel that runs it, for what treats them all alike, such as a cache of plans. */
export type KernelCall =
  | { readonly kernel: 'gemm'; readonly call: CheckedGemm }
  | { readonly kernel: 'conv2dForward'; readonly call: CheckedConv2d }
  | { readonly kernel: 'attention'; readonly call: CheckedAttention }
  | { readonly kernel: 'topK'; readonly call: CheckedTopK }
  | {
      readonly kernel: 'run';
      readonly call: CheckedRun;
      /** The index of the input in whose place each output is; -1 if it has separate memory. Default: all -1. */
      readonly inPlaceOf?: readonly number[];
    };

/** A {@link KernelCall} with its operands. */
export type ResolvedCall<Buffer> =
  | { readonly kernel: 'gemm'; readonly call: ResolvedGemm<Buffer> }
  | { readonly kernel: 'conv2dForward'; readonly call: ResolvedConv2d<Buffer> }
  | { readonly kernel: 'attention'; readonly call: ResolvedAttention<Buffer> }
  | { readonly kernel: 'topK'; readonly call: ResolvedTopK<Buffer> }
  | { readonly kernel: 'run'; readonly call: ResolvedRun<Buffer> };

const SCALARS = Object.fromEntries(
  Object.entries<OpDefinition<object, CheckedCall>>(OPS).map(([op, { scalars = {} }]) => [op, Object.keys(scalars)]),
) as Readonly<Record<string, readonly string[]>> as Readonly<Record<KernelName, readonly string[]>>;

/** A queued call with its operands by their names, for kernels that plan or run it. */
export function resolvedCall<Buffer>(launch: Launch<Buffer>): ResolvedCall<Buffer> {
  const { kernel, operands, params, opName } = launch;
  let next = 0;
  if (kernel === 'run') {
    const geometry = launch.call;
    const operandOf = ({ extent }: RunLayout) => (extent === 0 ? undefined : operands[next++]);
    const inputs = geometry.inputs.map(operandOf);
    const outputs = geometry.outputs.map(operandOf);
    const inPlace = outputs.map((output) => inputs.some((input) => output !== undefined && isSamePlace(input, output)));
    return { kernel, call: { geometry, inputs, outputs, params, inPlace, opName } };
  }
  const call: Record<string, unknown> = { ...launch.call, opName };
  for (const { name, elements } of launch.call.operands) if (elements > 0) call[name] = operands[next++];
  // Of what is only planned there are none.
  if (params.length > 0) {
    const scalars = SCALARS[kernel];
    const first = params.length - scalars.length;
    for (let index = 0; index < scalars.length; index++) call[scalars[index] as string] = params[first + index];
    const { epilogue } = launch.call as { epilogue?: CheckedEpilogue };
    if (epilogue !== undefined && first > 0) call['epilogue'] = { ...epilogue, params: params.slice(0, first) };
  }
  return { kernel, call } as unknown as ResolvedCall<Buffer>;
}

/**
 * The scalars of a call that others with its plan have otherwise: their values, and which of the parameters of a launch they are,
 * counted from the end.
 */
export function freeScalars({
  kernel,
  call,
}: ResolvedCall<unknown>): Readonly<Record<string, { readonly value: number; readonly at: number } | undefined>> {
  if (kernel === 'run') return {};
  const { scalars = {} } = OPS[kernel] as OpDefinition<object, CheckedCall>;
  const names = Object.keys(scalars);
  const entries = names.map((name, index) => {
    const value = (call as unknown as Readonly<Record<string, number>>)[name] as number;
    return [name, scalars[name]?.(value) === true ? { value, at: index - names.length } : undefined] as const;
  });
  return Object.fromEntries(entries);
}

function isSamePlace(a: Operand<unknown> | undefined, b: Operand<unknown>): boolean {
  return a !== undefined && a.buffer === b.buffer && a.byteOffset === b.byteOffset;
}

/** A call as it is queued: what it shares with others that have its plan, and what is its own. */
export type Launch<Buffer> = KernelCall & {
  /** The method that was called, for messages. */
  readonly opName: OpName;
  /** The operands of the kernel in their order, inputs before outputs; those without elements are absent. */
  readonly operands: readonly Operand<Buffer>[];
  /** Parameters of the kernel of a `run`, or of an epilogue and then the scalars of the op: `alpha`, `beta`; `scale`, `softcap`. */
  readonly params: readonly number[];
};

/** Any kernel of a backend, for what treats them all alike. */
export type AnyKernel = Omit<OpKernel<KernelCall['call'], unknown, Feature>, 'run'> & {
  run?(call: unknown): void;
  readonly covers?: 'all' | 'some';
};

/** The kernel of that name, if the backend has it. */
export function kernelOf(kernels: PlannedKernels<never>, name: KernelName): AnyKernel | undefined {
  return kernels[name];
}
