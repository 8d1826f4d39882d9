import type { StoredFloatDType } from '../contract/element-types.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { checkOneOf, checkSizes, describe } from '../contract/checks.ts';
import { checkFields, hasFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { CheckedRun } from '../kernel/checked-run.ts';
import type { Kernel } from '../kernel/graph.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import { readParams, type ReadViews, readViews, viewsByName } from '../kernel/read-run-call.ts';
import type { RunOperand, RunView } from '../kernel/run-call.ts';
import { assertRunSize } from '../kernel/run-size.ts';
import { checkedRun } from '../kernel/same-run.ts';
import { STORAGE_DTYPES } from '../kernel/value-types.ts';
import type { OperandSpec } from './op-definition.ts';

/** An {@link Epilogue} without its pointers. */
export interface EpilogueShape {
  /**
   * Computes an output's element from the product's: values of elements only, no gather; a float32 input `acc`, at most
   * 3 other inputs, one output, which is stored in the dtype of the call.
   */
  readonly kernel: Kernel;
  /** Layouts of the inputs but `acc`, over the domain of the op's output. */
  readonly inputs?: Readonly<Record<string, RunView>>;
}

/** The field of a call that may have one, without its pointers. */
export interface EpilogueField {
  /** The kernel applied to each element before it is stored, over the op's output. */
  readonly epilogue?: EpilogueShape;
}

/** A kernel that a product or convolution applies to each element before it stores it. `acc` is not rounded before. */
export interface Epilogue extends Pick<EpilogueShape, 'kernel'> {
  /** The inputs but `acc`, such as a bias with strides `[0, 0, 1]`. */
  readonly inputs?: Readonly<Record<string, DevicePtr | RunOperand>>;
  readonly params?: Readonly<Record<string, number>>;
}

/** An epilogue whose kernel and layouts are checked. */
export interface CheckedEpilogue {
  readonly kernel: Kernel;
  /** The geometry over the domain of the op's output; `acc` and the output have its layout. */
  readonly geometry: CheckedRun;
  /** Parameters in the order of `kernel.params`; empty before a call gives them, as many calls share a plan. */
  readonly params: readonly number[];
}

/** The input of an epilogue that is what the product or convolution computes. */
export const ACCUMULATOR = 'acc';
const MAX_INPUTS = 3;
/** The nodes that `beta C` adds where k or alpha is 0 must fit a kernel too: its factor, and the product with it. */
const MAX_PARAMETERS = 15;
const MAX_NODES = 254;

/** An epilogue as a call gave it, each of its fields read once. */
export class ReadEpilogue {
  readonly kernel: Kernel;
  /** Inputs in the order of `kernel.inputs`; none for `acc`. */
  readonly inputs: ReadViews;
  /** Parameters in the order of `kernel.params`; empty where none were given. */
  readonly params: readonly number[];

  constructor(kernel: Kernel, inputs: ReadViews, params: readonly number[]) {
    this.kernel = kernel;
    this.inputs = inputs;
    this.params = params;
  }
}

/**
 * Reads an epilogue: not whether its form and layouts make sense.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function readEpilogue(epilogue: unknown): ReadEpilogue {
  if (typeof epilogue !== 'object' || epilogue === null) {
    throw invalid(`epilogue must be { kernel, inputs?, params? }, got ${describe(epilogue)}`);
  }
  const { kernel: own, inputs, params } = epilogue as Record<string, unknown>;
  const count = [own, inputs, params].filter((value) => value !== undefined).length;
  if (!hasFields(epilogue, count)) {
    checkFields('epilogue', epilogue, ['kernel', 'inputs', 'params']);
  }
  const kernel = checkKernel(own);
  return new ReadEpilogue(
    kernel,
    readViews('epilogue.inputs', kernel.inputs, inputs, ACCUMULATOR),
    readParams(kernel, params),
  );
}

/**
 * The rules of an epilogue that hold whatever the sizes of the call.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function checkEpilogue(epilogue: EpilogueShape | Epilogue | ReadEpilogue | undefined): ReadEpilogue | undefined {
  if (epilogue === undefined) return undefined;
  const read = epilogue instanceof ReadEpilogue ? epilogue : readEpilogue(epilogue);
  checkForm(read.kernel);
  for (const [index, { name, type }] of read.kernel.inputs.entries()) {
    const { strides, dtype } = read.inputs.views[index] ?? {};
    if (strides !== undefined) checkSizes(`strides of input ${name}`, strides);
    if (dtype !== undefined) checkOneOf(`dtype of input ${name}`, dtype, STORAGE_DTYPES[type]);
  }
  return read;
}

/**
 * The rules of an epilogue's layouts, after all others of the op.
 *
 * @param names - what the op calls the sizes of its output
 * @param domain - those sizes, each below 2^32
 * @param strides - those of its axes, in elements; undefined: dense
 * @throws {BackendError} INVALID_ARGUMENT, or UNSUPPORTED for a size of 2^32 or more
 */
export function placeEpilogue(
  given: ReadEpilogue | undefined,
  names: readonly string[],
  domain: readonly number[],
  strides: readonly number[] | undefined,
  dtype: StoredFloatDType,
): CheckedEpilogue | undefined {
  if (given === undefined) return undefined;
  const { kernel } = given;
  for (const [axis, size] of domain.entries()) assertRunSize(`${names[axis]} with an epilogue`, size);
  const output = kernel.outputs[0]?.name as string;
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { ...viewsByName(kernel.inputs, given.inputs), [ACCUMULATOR]: { strides } as RunView },
    outputs: { [output]: { strides, dtype } as RunView },
  });
  return { kernel, geometry, params: [] };
}

/** The inputs of an epilogue besides the product. */
export function epilogueOperands(epilogue: CheckedEpilogue | undefined): OperandSpec[] {
  if (epilogue === undefined) return [];
  return epilogue.geometry.inputs
    .filter(({ name }) => name !== ACCUMULATOR)
    .map(({ name, dtype, extent }) => ({ name: `epilogue.${name}`, dtype, elements: extent }));
}

function checkForm(kernel: Kernel): void {
  const what = `epilogue ${kernel.name}`;
  const accumulator = kernel.inputs.find(({ name }) => name === ACCUMULATOR);
  if (accumulator?.type !== 'f32' || accumulator.access !== 'element') {
    throw invalid(`${what} must have an element input acc of type f32`);
  }
  if (kernel.inputs.length > MAX_INPUTS + 1) throw invalid(`${what} takes at most ${MAX_INPUTS} inputs besides acc`);
  if (kernel.params.length > MAX_PARAMETERS) throw invalid(`${what} takes at most ${MAX_PARAMETERS} parameters`);
  if (kernel.nodes.length > MAX_NODES) throw invalid(`${what} takes at most ${MAX_NODES} nodes`);
  if (kernel.outputs.length !== 1 || kernel.outputs[0]?.type !== 'f32') {
    throw invalid(`${what} must have one output of type f32`);
  }
  if (kernel.hasRows) throw invalid(`${what} must not fold or have values of rows`);
  if (kernel.inputs.some(({ access }) => access === 'gather')) throw invalid(`${what} must not gather`);
  const { name } = kernel.outputs[0];
  if (kernel.inputs.some((input) => input.name === name))
    throw invalid(`${what} must not store in the place of an input`);
  if (kernel.outputs[0].scatter !== undefined) throw invalid(`${what} must not scatter`);
}
