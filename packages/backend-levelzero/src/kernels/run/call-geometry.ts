import { BYTES_OF } from '@concord/backend-core/implement';
import type { CheckedRun, RunLayout } from '@concord/backend-core/kernel';
import { type Axes, costOf, joinAxes, names, padAxes, runAxes, vectorAxis } from '@concord/kernel';
import type { Width } from '../arithmetic/spirv-arithmetic.ts';
import type { Recorder, Span } from '../recorder.ts';
import { type Access, formParameters, type OperandForm, type RunForm } from './form.ts';

/** A `run` that is planned: its geometry, and spans that stand for its operands. */
export interface RunToPlan {
  readonly geometry: CheckedRun;
  /** The spans of the inputs, then of the outputs, in their orders; undefined if there is no element. */
  readonly spans: readonly (Span | undefined)[];
}

/** The axes that a part of the plan works over. */
export interface PlanAxes {
  readonly rows: Axes;
  /** The folded axes; undefined if nothing is folded, and no operand differs along them. */
  readonly folded: Axes | undefined;
  readonly places: ReadonlyMap<number, number>;
}

/** The arguments of a launch: numbers, places in memory, and parameters of the call. */
export type RunArguments = Parameters<Recorder['launch']>[0]['args'];

/** A form, and the arguments that all kernels of it have. */
export interface FormAndArguments {
  readonly form: RunForm;
  readonly args: RunArguments;
}

/** Extents from here on are beyond an index of 32 bits, which has a sign. */
const MAX_SHORT = 2 ** 31;
/** Bytes that narrow vectors are read in pieces of, where their addresses allow. */
const PIECE = 4;

/** The axes of a call, coalesced. */
export function planAxes({ geometry }: RunToPlan): PlanAxes {
  const { rows, folded, places } = runAxes(geometry);
  return { rows, folded: folded.sizes.length === 0 ? undefined : folded, places };
}

/** Returns whether places are numbers of 32 bits: of GPUs, for which others are slow. */
export function indexType({ geometry }: RunToPlan, isCpuLike: boolean): 'u32' | 'u64' {
  const { inputs, outputs, rowCount, rowLength } = geometry;
  const max = Math.max(rowCount * rowLength, ...[...inputs, ...outputs].map(({ extent }) => extent));
  return isCpuLike || max >= MAX_SHORT / 2 ? 'u64' : 'u32';
}

/**
 * The form of a call's code, with vectors of `width` along its last row or folded axis, and its arguments.
 *
 * @param folded - those of `axes`, or one of size 1 where the code wants one
 */
export function formOf(
  call: RunToPlan,
  axes: PlanAxes,
  vector: { readonly along: RunForm['along']; readonly width: Width; readonly index: RunForm['index'] },
): FormAndArguments {
  const { geometry, spans } = call;
  const { kernel, shape, inputs, outputs } = geometry;
  const { sizes, strides: stridesOf, rowRank, foldedRank, places } = joinAxes(axes, padAxes);
  const last = vectorAxis({ along: vector.along, rowRank, foldedRank });

  const values: Record<string, RunArguments[string]> = {};
  const layouts: Access[] = [];
  const known = new Map<string, number>();
  const layoutOf = (operand: number): number => {
    const strides = stridesOf[operand] as readonly number[];
    const key = strides.join();
    const found = known.get(key);
    if (found !== undefined) return found;
    const layout = layouts.length;
    known.set(key, layout);
    layouts.push(accessOf(strides[last] as number));
    strides.forEach((stride, axis) => (values[names.stride(layout, axis)] = stride));
    return layout;
  };
  const alignOf = (operand: number, { dtype }: RunLayout): number => {
    const bytes = BYTES_OF[dtype];
    const strides = stridesOf[operand] as readonly number[];
    if (bytes >= PIECE || strides[last] !== 1) return bytes;
    const steps = [vector.width, ...strides.filter((_, axis) => axis !== last)].map((elements) => elements * bytes);
    return [spans[operand]?.byteOffset ?? 0, ...steps].every((step) => step % PIECE === 0) ? PIECE : bytes;
  };
  const stand = spans.find((span) => span !== undefined) as Span;
  const operandOf = (layout: RunLayout, operand: number): OperandForm => {
    if (layout.access !== 'gather' && layout.access !== 'scatter') {
      return { dtype: layout.dtype, layout: layoutOf(operand), align: alignOf(operand, layout) };
    }
    const gather = layout.extent === 0 ? 'empty' : layout.strides.at(-1) === 1 ? 'dense' : 'strided';
    layout.shape.forEach((size, axis) => (values[names.gatherSize(operand, axis)] = size));
    layout.strides.forEach((stride, axis) => (values[names.gatherStride(operand, axis)] = stride));
    return { dtype: layout.dtype, layout: -1, align: BYTES_OF[layout.dtype], gather };
  };
  const forms = [...inputs, ...outputs].map(operandOf);
  const form: RunForm = {
    kernel,
    ...vector,
    rowRank,
    foldedRank,
    layouts,
    inputs: forms.slice(0, inputs.length),
    outputs: forms.slice(inputs.length),
    places,
    rank: shape.length,
    unfolded: shape.length - geometry.folded,
  };
  inputs.forEach((_, input) => (values[names.input(input)] = spans[input] ?? stand));
  outputs.forEach((_, output) => (values[names.output(output)] = spans[inputs.length + output] ?? stand));
  sizes.forEach((size, axis) => (values[names.size(axis)] = size));
  shape.forEach((size, axis) => (values[names.extent(axis)] = size));
  kernel.params.forEach((_, parameter) => (values[names.parameter(parameter)] = { parameter }));
  const wanted = Object.keys(formParameters(form));
  return { form, args: Object.fromEntries(wanted.map((name) => [name, values[name] as RunArguments[string]])) };
}

function accessOf(stride: number): Access {
  if (stride === 0) return 'constant';
  return stride === 1 ? 'dense' : 'strided';
}

/** Multiply-adds of one computation of all nodes at a number of points, at most. */
export function workOf({ geometry }: RunToPlan, points: number): number {
  return points * geometry.kernel.nodes.reduce((sum, node) => sum + costOf(node), 0);
}
