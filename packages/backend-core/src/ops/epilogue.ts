import type { FloatDType } from '../contract/capabilities.ts';
import type { DevicePtr } from '../contract/device-ptr.ts';
import { checkOneOf, checkSizes, describe } from '../contract/checks.ts';
import { checkFields } from '../contract/fields.ts';
import { invalid } from '../errors/invalid.ts';
import type { CheckedRun } from '../kernel/checked-run.ts';
import type { Kernel } from '../kernel/graph.ts';
import { checkKernel } from '../kernel/check-kernel.ts';
import { readParams, readViews } from '../kernel/read-run-call.ts';
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
  /** Over the domain of the op's output; `acc` and the output are laid out as that is. */
  readonly geometry: CheckedRun;
  /** Address of each input in the order of `kernel.inputs`; undefined for `acc`, and where none was given. */
  readonly pointers: readonly (number | undefined)[];
  /** In the order of `kernel.params`; empty where none were given. */
  readonly params: readonly number[];
}

const ACCUMULATOR = 'acc';
const MAX_INPUTS = 3;
/** The nodes that `beta C` adds where k or alpha is 0 must fit a kernel too: its factor, and the product with it. */
const MAX_PARAMETERS = 15;
const MAX_NODES = 254;

/** An epilogue whose own form is checked; its layouts are not yet held against the op's output. */
export interface GivenEpilogue extends Omit<CheckedEpilogue, 'geometry'> {
  readonly views: Readonly<Record<string, RunView>>;
}

/** A call's epilogue, which is read once however often it is asked for. */
export class EpilogueOnce {
  readonly #source: EpilogueShape | Epilogue;
  #given: GivenEpilogue | undefined;

  constructor(source: EpilogueShape | Epilogue) {
    this.#source = source;
  }

  /** @throws {BackendError} INVALID_ARGUMENT as {@link readEpilogue} */
  read(): GivenEpilogue | undefined {
    this.#given ??= readEpilogue(this.#source);
    return this.#given;
  }
}

/**
 * The rules of an epilogue that hold whatever the sizes of the call.
 *
 * @throws {BackendError} INVALID_ARGUMENT
 */
export function readEpilogue(epilogue: EpilogueShape | Epilogue | EpilogueOnce | undefined): GivenEpilogue | undefined {
  if (epilogue === undefined) return undefined;
  if (epilogue instanceof EpilogueOnce) return epilogue.read();
  if (typeof epilogue !== 'object' || epilogue === null) {
    throw invalid(`epilogue must be { kernel, inputs?, params? }, got ${describe(epilogue)}`);
  }
  checkFields('epilogue', epilogue, ['kernel', 'inputs', 'params']);
  const kernel = checkKernel(epilogue.kernel);
  checkForm(kernel);
  const { views, pointers } = readViews('epilogue.inputs', kernel.inputs, epilogue.inputs, ACCUMULATOR);
  for (const { name, type } of kernel.inputs) {
    const { strides, dtype } = views[name] ?? {};
    if (strides !== undefined) checkSizes(`strides of input ${name}`, strides);
    if (dtype !== undefined) checkOneOf(`dtype of input ${name}`, dtype, STORAGE_DTYPES[type]);
  }
  return { kernel, views, pointers, params: readParams(kernel, (epilogue as Epilogue).params) };
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
  given: GivenEpilogue | undefined,
  names: readonly string[],
  domain: readonly number[],
  strides: readonly number[] | undefined,
  dtype: FloatDType,
): CheckedEpilogue | undefined {
  if (given === undefined) return undefined;
  const { kernel, views, pointers, params } = given;
  for (const [axis, size] of domain.entries()) assertRunSize(`${names[axis]} with an epilogue`, size);
  const output = kernel.outputs[0]?.name as string;
  const geometry = checkedRun(kernel, {
    shape: domain,
    inputs: { ...views, [ACCUMULATOR]: { strides } as RunView },
    outputs: { [output]: { strides, dtype } as RunView },
  });
  return { kernel, geometry, pointers, params };
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
}
