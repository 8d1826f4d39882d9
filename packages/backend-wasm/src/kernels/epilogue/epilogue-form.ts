import type { CheckedEpilogue } from '@concord/backend-core/implement';
import type { CheckedRun, KernelNode } from '@concord/backend-core/kernel';
import { axisOf, formKey, madeOnce } from '@concord/kernel';
import { ONE_LINE, type RunForm } from '../run/form.ts';
import { callForm, type FormAxes, geometryArguments } from '../run/operand-forms.ts';

/** An epilogue as code has it: over planes, rows and columns; or planes, rows, lines and columns. */
export interface EpilogueForm {
  readonly form: RunForm;
  /** Equal for equal code. */
  readonly key: string;
  /** The arguments that follow from the geometry: sizes and strides in bytes. */
  readonly values: ReadonlyMap<string, number>;
  /** The input that is the product. */
  readonly accumulator: number;
}

const known = new WeakMap<CheckedRun, EpilogueForm>();

/** The form of an epilogue; worked out once for a geometry. */
export function epilogueForm({ geometry }: CheckedEpilogue): EpilogueForm {
  return madeOnce(known, geometry, () => makeForm(geometry));
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
  // The product and what is stored are given as tiles, whose rows are dense.
  const dense = sizes.map((_, axis) => (axis === last ? 1 : 0));
  const axes: FormAxes = {
    kind: 'map',
    along: 'rows',
    rowRank: sizes.length,
    foldedRank: 0,
    sizes,
    strides: [
      ...inputs.map(({ strides }, input) =>
        input === accumulator ? dense : join(strides, (width > 1 ? strides[3] : strides[2]) as number),
      ),
      ...outputs.map(() => dense),
    ],
    places: shape.map((_, axis) => [axis, Math.min(axis, last)] as const),
  };
  const tiles: CheckedRun = {
    ...geometry,
    inputs: inputs.map((layout, input) => (input === accumulator ? { ...layout, dtype: 'f32' } : layout)),
  };
  const form: RunForm = { ...callForm(tiles, axes), stores: [0], ...ONE_LINE, hasWhole: true, hasRest: true };
  return { form, key: formKey(form), values: geometryArguments(tiles, axes), accumulator };
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
