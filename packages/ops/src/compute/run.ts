import type { DevicePtr, DType, PlannedCall } from '@concord/backend-core';
import {
  checkKernel,
  type GatherView,
  type InputSpecs,
  type Kernel,
  type ParameterSpecs,
  type RunView,
} from '@concord/backend-core/kernel';
import { checkFields, reading, readParams } from '@concord/backend-core/implement';
import { plannedLaunch } from './launches.ts';
import { checkOptions, checkTensor, type OptionKinds, shown } from '../tensor/arguments.ts';
import { checkDType, checkShape } from '../tensor/create.ts';
import { allocateAs } from '../tensor/allocate.ts';
import { explained, launch, refuse, shapeText } from '../tensor/errors.ts';
import { denseLayout, type SharedLayout } from '../tensor/layout.ts';
import { broadcastShapes, sameShape } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import { commonShape } from './elementwise.ts';
import { PlansByFunction } from './plans.ts';
import { checkSameBackend } from './produce.ts';
import { type Axes, elementsViewOf, foldedShape, type RowDomain, rowDomain, rowsViewOf } from './rows.ts';

/** The options of a kernel's run, besides its inputs. */
export interface RunOptions<Outputs extends string = string, Parameters extends ParameterSpecs = ParameterSpecs> {
  /** Sizes of the domain. Default: what the element inputs broadcast to. */
  readonly shape?: readonly number[];
  /** The axes that a kernel with rows folds. Default for such a kernel: -1. */
  readonly axis?: Axes;
  /** Values of the kernel's parameters. May be left out only where it has none. */
  readonly params?: { readonly [Name in keyof Parameters]: number };
  /**
   * Outputs that are filled instead of new tensors: an element output may be exactly one element input, and one with the name of an
   * input is that input. An output that is written by
   * index is to be given: what no point names stays.
   */
  readonly out?: Readonly<Partial<Record<Outputs, Tensor>>>;
  /** Element types of new outputs that are not stored in their declared type, such as f16. */
  readonly dtypes?: Readonly<Partial<Record<Outputs, DType>>>;
}

/**
 * Runs a user's kernel (`defineKernel` of `@concord/backend-core/kernel`) on tensors, in one launch. Element inputs
 * broadcast to the domain, row inputs to its axes that are not folded, gather inputs are given as they are.
 *
 * @returns the outputs by name; rows have the domain's axes but the folded ones
 * @throws {BackendError} INVALID_ARGUMENT for inputs that do not fit, and what the backend's `run` refuses
 * @throws {BackendError} OUT_OF_MEMORY
 * @example
 * ```ts
 * const x = tensor(backend, [[3, 4], [6, 8]]);
 * const kernel = defineKernel('length', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.sqrt(k.fold('sum', k.mul(x, x))) }));
 * await run(kernel, { x }).y.toArray(); // [5, 10]
 * ```
 */
export function run<Inputs extends InputSpecs, Parameters extends ParameterSpecs, Outputs extends string>(
  kernel: Kernel<Inputs, Parameters, Outputs>,
  inputs: { readonly [Name in keyof Inputs]: Tensor },
  ...[options = {}]: {} extends Parameters
    ? [options?: RunOptions<Outputs, Parameters>]
    : [options: RunOptions<Outputs, Parameters> & Required<Pick<RunOptions<Outputs, Parameters>, 'params'>>]
): { [Name in Outputs]: Tensor } {
  checkCall(kernel, inputs, options);
  const { name: op } = kernel;
  const given = inputs as Readonly<Record<string, Tensor>>;
  // Another object each time of one that may still change, for which nothing is found then.
  const own: Kernel = launch(op, Object.values(given), () => checkKernel(kernel));
  const tensors: Tensor[] = [];
  const key: unknown[] = [];
  for (const { name } of own.inputs) {
    const tensor = given[name] as Tensor;
    tensors.push(tensor);
    key.push(tensor.layout.id);
  }
  const [first] = tensors;
  if (first === undefined) throw refuse(op, 'takes at least one tensor, to know the backend');
  const { backend } = first;
  checkSameBackend(op, backend, tensors);
  const outs: (Tensor | undefined)[] = [];
  for (const { name } of own.outputs) {
    const out = options.out?.[name as Outputs] ?? given[name];
    if (out !== undefined) checkSameBackend(op, backend, [out]);
    outs.push(out);
    key.push(out?.layout.id ?? 0);
  }
  const fixed = readOptions(own, options, key);
  const plan = plans.of(own).of(backend, key, () => planKernel(own, tensors, outs, fixed));
  const params =
    own.params.length === 0 && options.params === undefined
      ? undefined
      : launch(op, tensors, () => reading('params', () => readParams(own, options.params ?? {})));

  const outputs: Record<string, Tensor> = {};
  try {
    const pointers: DevicePtr[] = [];
    for (const tensor of tensors) pointers.push(tensor.ptr);
    for (let index = 0; index < outs.length; index++) {
      const output = outs[index] ?? allocateAs(op, backend, plan.results[index] as SharedLayout);
      outputs[(own.outputs[index] as { name: string }).name] = output;
      pointers.push(output.ptr);
    }
    plan.call.launch(pointers, params);
  } catch (error) {
    for (const output of Object.values(outputs)) if (!outs.includes(output)) output.dispose();
    throw explained(op, tensors, error);
  }
  return outputs as { [Name in Outputs]: Tensor };
}

const OPTIONS: OptionKinds = { shape: 'any', axis: 'any', params: 'any', out: 'any', dtypes: 'any' };

/** A kernel's call, and the layout of each output. */
interface KernelPlan {
  readonly results: readonly SharedLayout[];
  readonly call: PlannedCall;
}

const plans = new PlansByFunction<KernelPlan>();

/** The options that a plan depends on, each read once. */
interface FixedOptions {
  readonly shape: readonly number[] | undefined;
  readonly axis: Axes | undefined;
  /** The dtypes in the order of the outputs. */
  readonly dtypes: readonly (DType | undefined)[];
}

/** @param key - gets all of them */
function readOptions(kernel: Kernel, { shape, axis, dtypes }: RunOptions, key: unknown[]): FixedOptions {
  const ownShape = shape === undefined ? undefined : checkShape(kernel.name, shape);
  const ownAxis: Axes | undefined = Array.isArray(axis) ? [...(axis as readonly number[])] : axis;
  const ownTypes = kernel.outputs.map(({ name }) => dtypes?.[name]);
  key.push(ownShape?.length, Array.isArray(ownAxis), ...ownTypes);
  if (ownShape !== undefined) for (const length of ownShape) key.push(length);
  if (Array.isArray(ownAxis)) key.push(...(ownAxis as readonly number[]));
  else key.push(ownAxis);
  return { shape: ownShape, axis: ownAxis, dtypes: ownTypes };
}

function planKernel(
  kernel: Kernel,
  tensors: readonly Tensor[],
  outs: readonly (Tensor | undefined)[],
  { shape: given, axis, dtypes }: FixedOptions,
): KernelPlan {
  const { name: op } = kernel;
  const shape =
    given ??
    commonShape(
      op,
      tensors.filter((_, index) => kernel.inputs[index]?.access === 'element'),
    );
  const domain = kernel.hasRows
    ? rowDomain(op, shape, axis ?? -1)
    : { shape, folded: 0, order: shape.map((_, each) => each), original: shape };
  const rows = foldedShape(domain, false);
  const inputs = kernel.inputs.map(({ name, access }, index) => [
    name,
    viewFor(op, name, tensors[index] as Tensor, access, domain, rows),
  ]);
  const results = kernel.outputs.map(({ name, type, level, scatter }, index) => {
    const wanted = level === 'row' ? rows : shape;
    const own = outs[index];
    if (scatter !== undefined) {
      if (own === undefined) throw refuse(op, `out.${name} must be given: it is written by index`);
      return own.layout;
    }
    if (own !== undefined && !sameShape(own.shape, wanted)) {
      throw refuse(op, `out.${name} is ${shapeText(own.shape)}, the result ${shapeText(wanted)}`);
    }
    return own?.layout ?? denseLayout(wanted, checkDType(op, dtypes[index] ?? type));
  });
  const outputs = kernel.outputs.map(({ name, level, scatter }, index) => {
    const result = results[index] as SharedLayout;
    if (scatter !== undefined) {
      const { dtype, shape: sizes, strides } = result;
      return [name, { dtype, shape: sizes, strides }];
    }
    return [name, level === 'row' ? rowsViewOf(result, domain) : elementsViewOf(result, domain)];
  });
  const call = launch(op, tensors, () =>
    plannedLaunch((tensors[0] as Tensor).backend, 'run', {
      ...{ kernel, shape: domain.shape },
      ...(kernel.hasRows ? { folded: domain.folded } : {}),
      inputs: Object.fromEntries(inputs) as Record<string, RunView | GatherView>,
      outputs: Object.fromEntries(outputs) as Record<string, RunView>,
    }),
  );
  return { results, call };
}

/** Checks what `backend.run` does not look at, or only after its tensors were read. */
function checkCall(kernel: Kernel, inputs: unknown, options: object): void {
  const parts = kernel as Partial<Kernel> | null | undefined;
  if (!Array.isArray(parts?.inputs) || !Array.isArray(parts.outputs))
    throw refuse('run', `takes a kernel of defineKernel first, got ${shown(kernel)}`);
  const { name: op } = kernel;
  if (typeof inputs !== 'object' || inputs === null || inputs instanceof Tensor) {
    throw refuse(op, `takes its inputs by name, such as { ${kernel.inputs[0]?.name ?? 'x'} }, got ${shown(inputs)}`);
  }
  const own = inputs as Readonly<Record<string, unknown>>;
  let count = 0;
  for (const { name } of kernel.inputs) if (own[name] !== undefined) count++;
  if (count < kernel.inputs.length || Object.keys(own).length !== count) {
    const names = kernel.inputs.map(({ name }) => name);
    checkFields(`${op}: inputs`, own, names, { op });
    for (const name of names) if (own[name] === undefined) throw refuse(op, `input ${name} is missing`);
  }
  for (const { name } of kernel.inputs) if (!(own[name] instanceof Tensor)) checkTensor(op, `input ${name}`, own[name]);
  checkOptions(op, options, OPTIONS);
  const { out, dtypes } = options as RunOptions;
  if (out !== undefined) checkByOutput('out', kernel, out, 'tensor');
  if (dtypes !== undefined) checkByOutput('dtypes', kernel, dtypes, 'any');
}

function checkByOutput(option: string, { name: op, outputs }: Kernel, values: object, kind: 'tensor' | 'any'): void {
  checkOptions(`${op}.${option}`, values, Object.fromEntries(outputs.map(({ name }) => [name, kind])));
}

function viewFor(
  op: string,
  name: string,
  tensor: Tensor,
  access: 'element' | 'row' | 'gather',
  domain: RowDomain,
  rows: readonly number[],
): RunView | GatherView {
  const { dtype, shape, strides } = tensor;
  if (access === 'gather') return { dtype, shape, strides };
  const over = access === 'row' ? rows : domain.original;
  const both = broadcastShapes(shape, over);
  if (both === undefined || !sameShape(both, over)) {
    throw refuse(op, `input ${name} ${shapeText(shape)} does not broadcast to ${shapeText(over)}`);
  }
  return access === 'row' ? rowsViewOf(tensor, domain) : elementsViewOf(tensor, domain);
}
