import type { AxisNode, CheckedRun, Level, RunLayout } from '@concord/backend-core/kernel';
import { type Axis, coalesced, Walk } from './axes.ts';
import { BLOCK } from './slot.ts';
import type { Place } from './steps.ts';

/** Rows up to this length are kept whole between their folds; the parts of longer ones are computed again. */
const LONGEST_KEPT = 4096;
/** Neighbouring rows of which there are fewer are not worth a tile. */
const WIDE = 16;
/** Side of a tile that turns one axis to another. */
const TURNED = 32;

/**
 * Something with a place at each point of a domain that is an affine function of the point: an operand's element, or an
 * index.
 */
export interface View {
  readonly kind: 'input' | 'output' | 'axis' | 'place';
  /** Of the operand, or of the node that gives an axis's index; 0 for the place in the folded axes. */
  readonly index: number;
}

/** The cut of a domain into tiles, and their order. */
export interface Tiling {
  readonly views: readonly View[];
  /** Along which the rows of a tile lie. */
  readonly rowAxis: Axis;
  /** Along which the elements of a tile's rows lie. Of a map, which has no rows, it is any other axis. */
  readonly elementAxis: Axis;
  readonly otherRows: Walk;
  readonly otherElements: Walk;
  readonly rows: number;
  readonly elements: number;
  /** True if neighbours in a register are of neighbouring rows. */
  readonly isColumnMajor: boolean;
  /** True if a tile has all of its rows' elements, so that what one pass computes is there for the next. */
  readonly isWhole: boolean;
}

/**
 * The tiling of a call.
 *
 * @param isUnlimited - as large as the domain allows: for kernels that keep nothing between inputs and outputs
 */
export function tilingOf(geometry: CheckedRun, isUnlimited: boolean): Tiling {
  const { kernel, shape, folded } = geometry;
  const [views, strides] = viewsOf(geometry);
  const split = kernel.hasRows ? shape.length - folded : shape.length;
  const { before, behind } = coalesced(shape, strides, split);
  const isUnit = (axis: Axis): boolean => axis.size >= WIDE && countOfUnits(views, axis) > 0;

  const elementAxis = (kernel.hasRows ? best(behind, (axis) => axis.size) : best(before, elementRank)) ?? unit(strides);
  const rest = kernel.hasRows ? before : before.filter((axis) => axis !== elementAxis);
  const rowAxis = best(rest, (axis) => axis.size * (isUnit(axis) ? 2 ** 20 : 1)) ?? unit(strides);
  const otherElements = new Walk(kernel.hasRows ? behind.filter((axis) => axis !== elementAxis) : []);
  const otherRows = new Walk(rest.filter((axis) => axis !== rowAxis));

  const isTurned =
    (isUnit(rowAxis) ? countOfUnits(views, rowAxis) : 0) > (kernel.hasRows ? countOfUnits(views, elementAxis) : 0);
  const isColumnMajor = kernel.hasRows && isTurned;
  const [rows, elements] = isUnlimited
    ? [kernel.hasRows ? BLOCK : Infinity, Infinity]
    : sides(elementAxis.size, kernel.hasRows, isTurned);
  const tile = { rows: Math.min(rows, rowAxis.size), elements: Math.min(elements, elementAxis.size) };
  const isWhole = otherElements.count === 1 && tile.elements === elementAxis.size;
  return { views, rowAxis, elementAxis, otherRows, otherElements, ...tile, isColumnMajor, isWhole };
}

/** Rows and elements of a tile of about a block. */
function sides(length: number, hasRows: boolean, isTurned: boolean): readonly [number, number] {
  const fitting = Math.max(1, Math.floor(BLOCK / Math.max(1, length)));
  if (!isTurned) return length <= (hasRows ? LONGEST_KEPT : BLOCK) ? [fitting, length] : [1, BLOCK];
  if (!hasRows) return [TURNED, TURNED];
  const rows = Math.max(16, fitting);
  return rows * length <= 2 * LONGEST_KEPT ? [rows, length] : [256, 4];
}

/** The last axis along which any view goes by ones; where there is none, the last. */
function elementRank({ strides }: Axis, place: number): number {
  return (strides.some((stride) => stride === 1) ? 1000 : 0) + place;
}

function best(axes: readonly Axis[], rank: (axis: Axis, place: number) => number): Axis | undefined {
  return [...axes].sort((a, b) => rank(b, axes.indexOf(b)) - rank(a, axes.indexOf(a)))[0];
}

function unit(strides: readonly unknown[]): Axis {
  return { size: 1, strides: strides.map(() => 0) };
}

function countOfUnits(views: readonly View[], { strides }: Axis): number {
  return views.filter(({ kind }, view) => (kind === 'input' || kind === 'output') && strides[view] === 1).length;
}

function viewsOf({
  kernel,
  shape,
  folded,
  inputs,
  outputs,
}: CheckedRun): [readonly View[], readonly (readonly number[])[]] {
  const rank = shape.length;
  const views: View[] = [];
  const strides: (readonly number[])[] = [];
  const add = (view: View, own: readonly number[]): void => {
    views.push(view);
    strides.push([...own, ...Array.from({ length: rank - own.length }, () => 0)]);
  };
  const addOperands = (kind: 'input' | 'output', layouts: readonly RunLayout[]): void => {
    for (const [index, { access, strides: own }] of layouts.entries()) {
      if (access !== 'gather') add({ kind, index }, own);
    }
  };
  // Outputs first: their order of the axes is what counts where nothing else does.
  addOperands('output', outputs);
  addOperands('input', inputs);
  for (const [node, { kind, axis }] of kernel.nodes.entries() as Iterable<[number, AxisNode]>) {
    if (kind !== 'index' && kind !== 'rowIndex') continue;
    const count = kind === 'rowIndex' ? rank - folded : rank;
    const at = axis < 0 ? count + axis : axis;
    add(
      { kind: 'axis', index: node },
      Array.from({ length: count }, (_, other) => (other === at ? 1 : 0)),
    );
  }
  if (kernel.nodes.some((node) => node.kind === 'fold' && node.op.startsWith('arg'))) {
    add({ kind: 'place', index: 0 }, placeStrides(shape, rank - folded));
  }
  return [views, strides];
}

/** Row-major in the folded axes. */
function placeStrides(shape: readonly number[], rowRank: number): readonly number[] {
  return shape.map((_, axis) =>
    axis < rowRank ? 0 : shape.slice(axis + 1).reduce((product, size) => product * size, 1),
  );
}

/** Returns whether the values of each tile lie one after the other in memory, in the order in which a register has them. */
export function isDirect(tiling: Tiling, { type, dtype }: RunLayout, place: Place, level: Level): boolean {
  if (type !== dtype) return false;
  const { rows, elements, rowAxis, elementAxis, isColumnMajor } = tiling;
  const ofRows = { stride: place.rowStride, size: rows, whole: rowAxis.size };
  if (level === 'row') return ofRows.stride === 1 || ofRows.whole === 1;
  const ofElements = { stride: place.elementStride, size: elements, whole: elementAxis.size };
  const [inner, outer] = isColumnMajor ? [ofRows, ofElements] : [ofElements, ofRows];
  if (inner.stride !== 1 && inner.size > 1) return false;
  return outer.size === 1 || (outer.stride === inner.whole && inner.size === inner.whole);
}
