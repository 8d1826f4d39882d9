import { BYTES_OF, type CheckedEpilogue } from '@concord/backend-core/implement';
import type { CheckedRun, KernelNode } from '@concord/backend-core/kernel';
import { axisOf, formKey } from '@concord/kernel';
import { names, type OperandForm, type RunForm } from '../run/form.ts';

/** An epilogue as code has it: over planes, rows and columns; or planes, rows, lines and columns. */
export interface EpilogueForm {
  readonly form: RunForm;
  /** Equal for equal code. */
  readonly key: string;
  /** The words that follow from the geometry: sizes and strides in bytes. */
  readonly values: ReadonlyMap<string, number>;
  /** The input that is the product. */
  readonly accumulator: number;
}

const known = new WeakMap<CheckedRun, EpilogueForm>();

/** The form of an epilogue; worked out once for a geometry. */
export function epilogueForm({ geometry }: CheckedEpilogue): EpilogueForm {
  let form = known.get(geometry);
  if (form === undefined) {
    form = makeForm(geometry);
    known.set(geometry, form);
  }
  return form;
}

function makeForm(geometry: CheckedRun): EpilogueForm {
  const { kernel, shape, inputs, outputs } = geometry;
  const accumulator = kernel.inputs.findIndex(({ name }) => name === 'acc');
  const isJoined = shape.length === 4 && joins(geometry, accumulator);
  const join = (list: readonly number[], joined: number): readonly number[] =>
    isJoined ? [...list.slice(0, 2), joined] : list;
  const [height, width] = [shape[2] as number, shape[3] as number];
  const sizes = join(shape, height * width);
  const last = sizes.length - 1;
  const alongLast = sizes.map((_, axis) => axis === last);
  const values = new Map<string, number>();
  sizes.forEach((size, axis) => values.set(names.size(axis), size));
  shape.forEach((size, axis) => values.set(names.extent(axis), size));
  const dense = (operand: number, dtype: OperandForm['dtype']): OperandForm => {
    values.set(names.stride(operand, last), BYTES_OF[dtype]);
    return { dtype, moves: alongLast, step: 'dense' };
  };
  const formOf = (operand: number): OperandForm => {
    const { dtype, strides } = inputs[operand] as CheckedRun['inputs'][number];
    if (operand === accumulator) return dense(operand, 'f32');
    const own = join(strides, (width > 1 ? strides[3] : strides[2]) as number);
    own.forEach((stride, axis) => values.set(names.stride(operand, axis), stride * BYTES_OF[dtype]));
    const step = own[last] === 0 ? 'constant' : own[last] === 1 ? 'dense' : 'strided';
    return { dtype, moves: own.map((stride) => stride !== 0), step };
  };
  const form: RunForm = {
    kernel,
    kind: 'map',
    rowRank: sizes.length,
    foldedRank: 0,
    along: 'rows',
    inputs: inputs.map((_, operand) => formOf(operand)),
    outputs: outputs.map(({ dtype }, output) => dense(inputs.length + output, dtype)),
    places: shape.map((_, axis) => [axis, Math.min(axis, last)] as const),
    rank: shape.length,
    unfolded: shape.length,
    stores: [0],
    units: 1,
    hasWhole: true,
    hasRest: true,
    isSegmented: false,
    isTurned: false,
    isFoldedSegmented: false,
    isLong: false,
    kept: [],
  };
  return { form, key: formKey(form), values, accumulator };
}

/** True if lines and columns can be one axis: each input is contiguous from line to line, and no node asks for their indices. */
function joins({ kernel, shape, inputs }: CheckedRun, accumulator: number): boolean {
  const [height, width] = [shape[2] as number, shape[3] as number];
  if (height === 1 || width === 1) return !asksFor(kernel.nodes, height === 1 ? 2 : 3);
  const goesOn = inputs.every(
    ({ strides }, input) => input === accumulator || strides[2] === width * (strides[3] as number),
  );
  return goesOn && !asksFor(kernel.nodes, 2) && !asksFor(kernel.nodes, 3);
}

function asksFor(nodes: readonly KernelNode[], axis: number): boolean {
  return nodes.some((node) => node.kind === 'index' && axisOf(node.axis, 4) === axis);
}
