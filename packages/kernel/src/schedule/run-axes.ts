import type { CheckedRun, Kernel, RunLayout } from '@concord/backend-core/kernel';
import { type Axes, coalesce, permuteAxes } from './coalesce.ts';

/** The domain of a `run` in as few axes as its operands allow. */
export interface RunAxes {
  /** The axes that are not folded; of a kernel without rows all of them. */
  readonly rows: Axes;
  /** The folded axes; none of a kernel without rows. */
  readonly folded: Axes;
  /**
   * The new place of each axis that `index` or `rowIndex` names, by its place in the domain: in `rows`, or after them
   * in `folded`. An axis of size 1 is absent: its index is 0.
   */
  readonly places: ReadonlyMap<number, number>;
}

/**
 * Coalesces the axes of a `run`. Views, in both parts, are the inputs and then the outputs of the kernel, in their
 * orders; those of a gather input, which is not read by point, stand still, and so do row operands along folded axes.
 *
 * Axes that are not folded are ordered by the strides of the first element output, or else of the first output, so
 * that neighbours are written next to each other. Folded axes keep their order, which argmax tells places in.
 */
export function runAxes({ kernel, shape, folded, inputs, outputs }: CheckedRun): RunAxes {
  const rank = shape.length;
  const unfolded = rank - folded;
  const indexed = indexedAxes(kernel, rank, unfolded).filter((axis) => (shape[axis] as number) > 1);
  const views = [
    ...[...inputs, ...outputs].map((layout) => stridesOver(layout, rank)),
    ...indexed.map((axis) => shape.map((_, other) => (other === axis ? 1 : 0))),
  ];
  const part = (from: number, to: number): Axes => ({
    sizes: shape.slice(from, to),
    strides: views.map((view) => view.slice(from, to)),
  });
  const leading =
    inputs.length +
    Math.max(
      0,
      outputs.findIndex(({ access }) => access === 'element'),
    );
  const rows = coalesce(byStride(part(0, unfolded), leading));
  const inRow = coalesce(part(unfolded, rank));
  const operands = inputs.length + outputs.length;
  const places = new Map(
    indexed.map((axis, index) => {
      const view = operands + index;
      const place = [...(rows.strides[view] as readonly number[]), ...(inRow.strides[view] as readonly number[])];
      return [axis, place.indexOf(1)];
    }),
  );
  return { rows: ofOperands(rows, operands), folded: ofOperands(inRow, operands), places };
}

/** All axes of a domain: rows, then folded ones. */
export interface JoinedAxes extends Axes {
  readonly rowRank: number;
  readonly foldedRank: number;
  /** The places of the named axes among them. */
  readonly places: readonly (readonly [axis: number, place: number])[];
}

/**
 * Rows and folded axes after each other, each padded in front with axes of size 1. Without the folded ones, of a part that has
 * one point a row, they and what is named of them are left out.
 */
export function joinAxes(
  { rows, folded, places }: Pick<RunAxes, 'rows' | 'places'> & { readonly folded: Axes | undefined },
  padRows: (axes: Axes) => Axes,
  padFolded: (axes: Axes) => Axes = padRows,
): JoinedAxes {
  const [ofRows, ofFolded] = [padRows(rows), folded === undefined ? undefined : padFolded(folded)];
  const count = rows.sizes.length;
  const [rowRank, foldedRank] = [ofRows.sizes.length, ofFolded?.sizes.length ?? 0];
  const shift = foldedRank - (folded?.sizes.length ?? 0);
  return {
    sizes: [...ofRows.sizes, ...(ofFolded?.sizes ?? [])],
    strides: ofRows.strides.map((view, operand) => [...view, ...(ofFolded?.strides[operand] ?? [])]),
    rowRank,
    foldedRank,
    places: [...places].flatMap(([axis, place]): (readonly [number, number])[] => {
      if (place < 0 || (place >= count && ofFolded === undefined)) return [];
      return [[axis, place + rowRank - count + (place < count ? 0 : shift)]];
    }),
  };
}

/** The axes of the domain that nodes ask the index of. */
function indexedAxes(kernel: Kernel, rank: number, unfolded: number): number[] {
  const axes = kernel.nodes.flatMap((node) => {
    if (node.kind !== 'index' && node.kind !== 'rowIndex') return [];
    return [axisOf(node.axis, node.kind === 'index' ? rank : unfolded)];
  });
  return [...new Set(axes)];
}

/** An axis counted from the front. */
export function axisOf(axis: number, count: number): number {
  return axis < 0 ? axis + count : axis;
}

function stridesOver({ access, strides }: RunLayout, rank: number): readonly number[] {
  if (access === 'element') return strides;
  return Array.from({ length: rank }, (_, axis) => (access === 'row' ? (strides[axis] ?? 0) : 0));
}

function byStride(axes: Axes, view: number): Axes {
  const strides = axes.strides[view] as readonly number[];
  const order = axes.sizes.map((_, axis) => axis);
  return permuteAxes(
    axes,
    order.sort((a, b) => (strides[b] as number) - (strides[a] as number) || a - b),
  );
}

function ofOperands({ sizes, strides }: Axes, operands: number): Axes {
  return { sizes, strides: strides.slice(0, operands) };
}
