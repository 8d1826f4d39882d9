import { BYTES_OF } from '@concord/backend-core/implement';
import type { CheckedRun, RunLayout } from '@concord/backend-core/kernel';
import { type Axes, meanScale, type RunAxes } from '@concord/kernel';
import { bitsOf } from '../common/arguments.ts';
import { names, type OperandForm, type RunForm, vectorAxis } from './form.ts';

/** A form's part that follows from where its axes are. */
export type AxesForm = Pick<RunForm, 'kind' | 'rowRank' | 'foldedRank' | 'along' | 'places' | 'rank' | 'unfolded'>;

/** The axes of a form: sizes, and the strides of each input, then each output, in elements. */
export interface FormAxes extends Axes {
  readonly form: AxesForm;
}

/** All axes of a call, or at row level those that are not folded, as the axes of a map. */
export function mapAxes(geometry: CheckedRun, { rows, folded, places }: RunAxes, level: 'row' | 'element'): FormAxes {
  const parts = level === 'row' ? [rows] : [rows, folded];
  const joined = join(parts.map((part) => part));
  const { sizes } = joined;
  const missing = sizes.length === 0 ? 1 : 0;
  return {
    ...padded(joined, missing),
    form: {
      kind: 'map',
      rowRank: sizes.length + missing,
      foldedRank: 0,
      along: 'rows',
      places: [...places].filter(([, place]) => place >= 0 && place < sizes.length),
      rank: geometry.shape.length,
      unfolded: geometry.shape.length - geometry.folded,
    },
  };
}

/** The axes in another order: `order` lists the old places. */
export function reordered({ sizes, strides, form }: FormAxes, order: readonly number[]): FormAxes {
  const pick = (list: readonly number[]): number[] => order.map((at) => list[at] as number);
  const places = form.places.map(([named, place]) => [named, order.indexOf(place)] as const);
  return { sizes: pick(sizes), strides: strides.map(pick), form: { ...form, places } };
}

/** The axes of a call that folds: at least one of rows, and one that is folded. */
export function rowsAxes(geometry: CheckedRun, { rows, folded, places }: RunAxes, along: 'rows' | 'folded'): FormAxes {
  const count = rows.sizes.length;
  const ofRows = padded(rows, count === 0 ? 1 : 0);
  const ofFolded = padded(folded, folded.sizes.length === 0 ? 1 : 0);
  const rowRank = ofRows.sizes.length;
  return {
    ...join([ofRows, ofFolded]),
    form: {
      kind: 'rows',
      rowRank,
      foldedRank: ofFolded.sizes.length,
      along,
      places: [...places].flatMap(([axis, place]): (readonly [number, number])[] => {
        if (place < 0) return [];
        return [[axis, place < count ? place : place - count + rowRank]];
      }),
      rank: geometry.shape.length,
      unfolded: geometry.shape.length - geometry.folded,
    },
  };
}

/** The properties of the operands that code depends on. */
export function operandForms(geometry: CheckedRun, { strides, form }: FormAxes): Pick<RunForm, 'inputs' | 'outputs'> {
  const { inputs, outputs } = geometry;
  const last = vectorAxis(form as RunForm);
  const forms = [...inputs, ...outputs].map((layout, operand): OperandForm => {
    const { dtype, access, extent } = layout;
    const own = strides[operand] as readonly number[];
    if (access === 'gather') {
      const gather = extent === 0 ? 'empty' : layout.strides.at(-1) === 1 ? 'dense' : 'strided';
      return { dtype, moves: own.map(() => false), step: 'constant', gather };
    }
    const moves = own.map((stride) => extent > 0 && stride !== 0);
    const step = moves[last] !== true ? 'constant' : own[last] === 1 ? 'dense' : 'strided';
    return { dtype, moves, step };
  });
  return { inputs: forms.slice(0, inputs.length), outputs: forms.slice(inputs.length) };
}

/** The words that follow from a call's geometry: sizes, strides in bytes, extents, gather inputs, factors of means. */
export function geometryWords(geometry: CheckedRun, { sizes, strides }: FormAxes): Map<string, number> {
  const words = new Map<string, number>();
  sizes.forEach((size, axis) => words.set(names.size(axis), size));
  [...geometry.inputs, ...geometry.outputs].forEach((layout, operand) => {
    const bytes = BYTES_OF[layout.dtype];
    (strides[operand] as readonly number[]).forEach((stride, axis) => {
      if (layout.extent > 0) words.set(names.stride(operand, axis), stride * bytes);
    });
    if (layout.access === 'gather') gatherWords(words, layout, operand);
  });
  geometry.shape.forEach((size, axis) => words.set(names.extent(axis), size));
  const { scale, divisor } = meanScale(geometry.rowLength);
  words.set(names.meanScale, bitsOf(scale));
  words.set(names.meanDivisor, bitsOf(divisor));
  return words;
}

function gatherWords(words: Map<string, number>, { shape, strides, dtype }: RunLayout, input: number): void {
  shape.forEach((size, axis) => {
    words.set(names.gatherSize(input, axis, 'u32'), size);
    words.set(names.gatherSize(input, axis, 'i32'), Math.min(size, 2 ** 31));
    words.set(names.gatherStride(input, axis), (strides[axis] as number) * BYTES_OF[dtype]);
  });
}

function padded({ sizes, strides }: Axes, missing: number): Axes {
  if (missing === 0) return { sizes, strides };
  return { sizes: [1, ...sizes], strides: strides.map((view) => [0, ...view]) };
}

function join(parts: readonly Axes[]): Axes {
  return {
    sizes: parts.flatMap(({ sizes }) => sizes),
    strides: (parts[0] as Axes).strides.map((_, view) => parts.flatMap(({ strides }) => strides[view] as number[])),
  };
}
