import type { DType } from '@concord/backend-core';
import type { GatherOperand, InputSpecs, Kernel, ParameterSpecs, RunOperand } from '@concord/backend-core/kernel';
import { checkFields } from '@concord/backend-core/implement';
import { checkOptions, checkTensor, shown } from '../tensor/arguments.ts';
import { checkDType, checkShape } from '../tensor/create.ts';
import { allocate } from '../tensor/allocate.ts';
import { launch, refuse, shapeText } from '../tensor/errors.ts';
import { broadcastShapes, sameShape } from '../tensor/shape.ts';
import { Tensor } from '../tensor/tensor.ts';
import { checkSameBackend } from './produce.ts';
import { type Axes, elementsOf, foldedShape, type RowDomain, rowDomain, rowsOf } from './rows.ts';
import { commonShape } from './elementwise.ts';

/** The arguments of a kernel, besides its inputs. */
export interface RunOptions<Outputs extends string = string> {
  /** Sizes of the domain. Default: what the element inputs broadcast to. */
  readonly shape?: readonly number[];
  /** The axes that a kernel with rows folds. Default for such a kernel: -1. */
  readonly axis?: Axes;
  readonly params?: Readonly<Record<string, number>>;
  /** Outputs that are filled instead of new tensors: an element output may be exactly one element input. */
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
  options: RunOptions<Outputs> = {},
): { [Name in Outputs]: Tensor } {
  checkCall(kernel, inputs, options);
  const { name: op } = kernel;
  const own: Kernel = kernel;
  const given = inputs as Readonly<Record<string, Tensor>>;
  const tensors = Object.values(given);
  const [first] = tensors;
  if (first === undefined) throw refuse(op, 'takes at least one tensor, to know the backend');
  checkSameBackend(op, first.backend, [...tensors, ...(Object.values(options.out ?? {}) as Tensor[])]);
  const elements = kernel.inputs.filter(({ access }) => access === 'element').map(({ name }) => given[name] as Tensor);
  const shape = options.shape === undefined ? commonShape(op, elements) : checkShape(op, options.shape);
  const domain = kernel.hasRows
    ? rowDomain(op, shape, options.axis ?? -1)
    : { shape, folded: 0, order: shape.map((_, axis) => axis), original: shape };
  const rows = foldedShape(domain, false);
  const places: Record<string, RunOperand | GatherOperand> = {};
  for (const { name, access } of kernel.inputs)
    places[name] = placeOf(op, name, given[name] as Tensor, access, domain, rows);

  const outputs: Record<string, Tensor> = {};
  const made: Tensor[] = [];
  try {
    for (const { name, type, level } of kernel.outputs) {
      const own = options.out?.[name as Outputs];
      const wanted = level === 'row' ? rows : shape;
      if (own !== undefined && !sameShape(own.shape, wanted)) {
        throw refuse(op, `out.${name} is ${shapeText(own.shape)}, the result ${shapeText(wanted)}`);
      }
      const output =
        own ?? allocate(op, first.backend, wanted, checkDType(op, options.dtypes?.[name as Outputs] ?? type));
      if (own === undefined) made.push(output);
      outputs[name] = output;
    }
    launch(op, tensors, () => {
      const stored = kernel.outputs.map(({ name, level }) => {
        const output = outputs[name] as Tensor;
        return [name, level === 'row' ? rowsOf(output, domain) : elementsOf(output, domain)];
      });
      first.backend.run(own, {
        shape: domain.shape,
        ...(kernel.hasRows ? { folded: domain.folded } : {}),
        inputs: places,
        params: options.params ?? {},
        outputs: Object.fromEntries(stored) as Record<string, RunOperand>,
      });
    });
  } catch (error) {
    for (const each of made) each.dispose();
    throw error;
  }
  return outputs as { [Name in Outputs]: Tensor };
}

/** What `backend.run` will not look at, or only when its tensors have been read. */
function checkCall(kernel: Kernel, inputs: unknown, options: object): void {
  const parts = kernel as Partial<Kernel> | null | undefined;
  if (!Array.isArray(parts?.inputs) || !Array.isArray(parts.outputs))
    throw refuse('run', `takes a kernel of defineKernel first, got ${shown(kernel)}`);
  const { name: op } = kernel;
  if (typeof inputs !== 'object' || inputs === null || inputs instanceof Tensor) {
    throw refuse(op, `takes its inputs by name, such as { ${kernel.inputs[0]?.name ?? 'x'} }, got ${shown(inputs)}`);
  }
  const own = inputs as Readonly<Record<string, unknown>>;
  const names = kernel.inputs.map(({ name }) => name);
  checkFields(`${op}: inputs`, own, names, { op });
  for (const name of names) {
    if (own[name] === undefined) throw refuse(op, `input ${name} is missing`);
    checkTensor(op, `input ${name}`, own[name]);
  }
  checkOptions(op, options, { shape: 'any', axis: 'any', params: 'any', out: 'any', dtypes: 'any' });
  const { out, dtypes } = options as RunOptions;
  const outputs = kernel.outputs.map(({ name }) => name);
  if (out !== undefined) checkOptions(`${op}.out`, out, Object.fromEntries(outputs.map((name) => [name, 'tensor'])));
  if (dtypes !== undefined)
    checkOptions(`${op}.dtypes`, dtypes, Object.fromEntries(outputs.map((name) => [name, 'any'])));
}

function placeOf(
  op: string,
  name: string,
  tensor: Tensor,
  access: 'element' | 'row' | 'gather',
  domain: RowDomain,
  rows: readonly number[],
): RunOperand | GatherOperand {
  const { ptr, dtype, shape, strides } = tensor;
  if (access === 'gather') return { ptr, dtype, shape, strides };
  const over = access === 'row' ? rows : domain.original;
  const both = broadcastShapes(shape, over);
  if (both === undefined || !sameShape(both, over)) {
    throw refuse(op, `input ${name} ${shapeText(shape)} does not broadcast to ${shapeText(over)}`);
  }
  return access === 'row' ? rowsOf(tensor, domain) : elementsOf(tensor, domain);
}
