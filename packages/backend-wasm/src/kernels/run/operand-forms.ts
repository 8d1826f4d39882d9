import { BYTES_OF } from '@concord/backend-core/implement';
import type { CheckedRun, RunLayout } from '@concord/backend-core/kernel';
import {
  type Axes,
  joinAxes,
  meanScale,
  padAxesTo,
  permuteAxes,
  type ProgramForm,
  type RunAxes,
  vectorAxis,
} from '@concord/kernel';
import { bitsOf } from '../common/arguments.ts';
import { names, type OperandForm, type RunForm } from './form.ts';

/** The axes of a call, and those facts of its form that follow from them. */
export interface FormAxes extends Axes, Pick<RunForm, 'kind' | 'rowRank' | 'foldedRank' | 'along' | 'places'> {}

const atLeastOne = (axes: Axes): Axes => padAxesTo(axes, 1);

/** All axes of a call, or at row level those that are not folded, as the axes of a map. */
export function mapAxes({ rows, folded, places }: RunAxes, level: 'row' | 'element'): FormAxes {
  const all = joinAxes({ rows, folded: level === 'row' ? undefined : folded, places }, (axes) => axes);
  const { rowRank: _, ...one } = joinAxes({ rows: all, folded: undefined, places: new Map(all.places) }, atLeastOne);
  return { kind: 'map', ...one, rowRank: one.sizes.length, along: 'rows' };
}

/** The axes in another order: `order` lists the old places. */
export function reordered(axes: FormAxes, order: readonly number[]): FormAxes {
  const places = axes.places.map(([named, place]) => [named, order.indexOf(place)] as const);
  return { ...axes, ...permuteAxes(axes, order), places };
}

/** The axes of a call that folds: at least one of rows, and one that is folded. */
export function rowsAxes(axes: RunAxes, along: 'rows' | 'folded'): FormAxes {
  return { kind: 'rows', along, ...joinAxes(axes, atLeastOne) };
}

/** The part of a form that follows from the axes and the operands of a call. */
export function callForm(
  geometry: CheckedRun,
  { sizes: _, strides, ...axes }: FormAxes,
): Omit<FormAxes, keyof Axes> & Pick<RunForm, keyof ProgramForm | 'inputs' | 'outputs'> {
  const { kernel, shape, folded } = geometry;
  const operands = operandForms(geometry, strides, vectorAxis(axes));
  return { kernel, ...axes, ...operands, rank: shape.length, unfolded: shape.length - folded };
}

/** The properties of the operands that code depends on. */
function operandForms(
  { inputs, outputs }: CheckedRun,
  strides: Axes['strides'],
  last: number,
): Pick<RunForm, 'inputs' | 'outputs'> {
  const forms = [...inputs, ...outputs].map((layout, operand): OperandForm => {
    const { dtype, access, extent } = layout;
    const own = strides[operand] as readonly number[];
    if (access === 'gather' || access === 'scatter') {
      const gather = extent === 0 ? 'empty' : layout.strides.at(-1) === 1 ? 'dense' : 'strided';
      return { dtype, moves: own.map(() => false), step: 'constant', gather };
    }
    const moves = own.map((stride) => extent > 0 && stride !== 0);
    const step = moves[last] !== true ? 'constant' : own[last] === 1 ? 'dense' : 'strided';
    return { dtype, moves, step };
  });
  return { inputs: forms.slice(0, inputs.length), outputs: forms.slice(inputs.length) };
}

/** The arguments that follow from a call's geometry: sizes, strides in bytes, extents, gather inputs, factors of means. */
export function geometryArguments(geometry: CheckedRun, { sizes, strides }: FormAxes): Map<string, number> {
  const args = new Map<string, number>();
  sizes.forEach((size, axis) => args.set(names.size(axis), size));
  [...geometry.inputs, ...geometry.outputs].forEach((layout, operand) => {
    const bytes = BYTES_OF[layout.dtype];
    (strides[operand] as readonly number[]).forEach((stride, axis) => {
      if (layout.extent > 0) args.set(names.stride(operand, axis), stride * bytes);
    });
    if (layout.access === 'gather' || layout.access === 'scatter') gatherArguments(args, layout, operand);
  });
  geometry.shape.forEach((size, axis) => args.set(names.extent(axis), size));
  const { scale, divisor } = meanScale(geometry.rowLength);
  args.set(names.meanScale, bitsOf(scale));
  args.set(names.meanDivisor, bitsOf(divisor));
  return args;
}

function gatherArguments(args: Map<string, number>, { shape, strides, dtype }: RunLayout, input: number): void {
  shape.forEach((size, axis) => {
    args.set(names.gatherSizeFor(input, axis, 'u32'), size);
    args.set(names.gatherSizeFor(input, axis, 'i32'), Math.min(size, 2 ** 31));
    args.set(names.gatherStride(input, axis), (strides[axis] as number) * BYTES_OF[dtype]);
  });
}
