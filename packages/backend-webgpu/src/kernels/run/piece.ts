import { BackendError } from '@concord/backend-core';
import { BYTES_OF } from '@concord/backend-core/implement';
import type { CheckedRun, RunLayout } from '@concord/backend-core/kernel';
import { joinAxes, padAxes, type ProgramForm, type RunAxes } from '@concord/kernel';
import type { BoundPiece, VectorLayout } from './bind.ts';

/** A box of the coalesced domain of a run: what one series of launches computes. */
export interface Piece {
  readonly geometry: CheckedRun;
  /** Sizes of the box: axes that are not folded, then those that are, both padded to a rank class. */
  readonly sizes: readonly number[];
  /** The start along each axis. */
  readonly starts: readonly number[];
  /** Sizes of the whole domain along the same axes. */
  readonly full: readonly number[];
  readonly rowRank: number;
  readonly foldedRank: number;
  /** Inputs, then outputs. */
  readonly operands: readonly PieceOperand[];
  /** The places of the indices of the call's axes among the padded axes. */
  readonly places: ProgramForm['places'];
}

/** The maximum number of axes of a call: the uniforms of as many fit, whichever of them are folded. */
const MAX_AXES = 8;

/** An operand with its strides along all axes of the piece; what is read or written by index has those of its own axes. */
export interface PieceOperand {
  readonly layout: RunLayout;
  readonly isOutput: boolean;
  readonly strides: readonly number[];
}

/** Returns whether an operand is reached at any place, whichever the point is. */
export function isByIndex({ access }: Pick<RunLayout, 'access'>): boolean {
  return access === 'gather' || access === 'scatter';
}

/** The whole domain as a piece. */
export function wholePiece(geometry: CheckedRun, axes: RunAxes): Piece {
  const joined = joinAxes(
    { ...axes, folded: geometry.kernel.hasRows ? axes.folded : undefined },
    (rows) => padAxes(rows, MAX_AXES - axes.folded.sizes.length),
    (folded) => padAxes(folded, MAX_AXES - padAxes(axes.rows, MAX_AXES - folded.sizes.length).sizes.length),
  );
  const { sizes, strides, rowRank, foldedRank } = joined;
  const layouts = [...geometry.inputs, ...geometry.outputs];
  return {
    geometry,
    sizes,
    starts: sizes.map(() => 0),
    full: sizes,
    rowRank,
    foldedRank,
    operands: layouts.map((layout, index) => ({
      layout,
      isOutput: index >= geometry.inputs.length,
      strides: isByIndex(layout) ? layout.strides : (strides[index] as readonly number[]),
    })),
    places: [...joined.places].sort(([a], [b]) => a - b),
  };
}

/** Elements from the operand's first to the piece's first, and from that to the piece's last, both counted. */
export function reachOf(
  { sizes, starts }: Piece,
  { layout, strides }: PieceOperand,
): { first: number; extent: number } {
  if (isByIndex(layout)) return { first: 0, extent: layout.extent };
  let [first, extent] = [0, 1];
  for (const [axis, size] of sizes.entries()) {
    const stride = strides[axis] as number;
    first += (starts[axis] as number) * stride;
    extent += (size - 1) * stride;
  }
  return { first, extent };
}

/** The piece with another range along one axis. */
export function narrowed(piece: Piece, axis: number, start: number, size: number): Piece {
  return {
    ...piece,
    sizes: piece.sizes.map((own, at) => (at === axis ? size : own)),
    starts: piece.starts.map((own, at) => (at === axis ? own + start : own)),
  };
}

/** Two halves of a piece along an axis, the first of a size that is a multiple of `step`. */
function halves(piece: Piece, axis: number, step: number): readonly [Piece, Piece] {
  const size = piece.sizes[axis] as number;
  const first = Math.max(step, Math.floor(size / 2 / step) * step);
  return [narrowed(piece, axis, 0, first), narrowed(piece, axis, first, size - first)];
}

/** A part of the folded axes of a piece, as it is bound. Of most pieces there is one, which is all of it. */
export interface BoundWindow {
  readonly piece: Piece;
  readonly bound: BoundPiece;
}

/**
 * Binds a piece, if it must be in windows along its folded axes. Undefined where it has to be cut along others first: those
 * that an operand reaches farther along are.
 *
 * @param bind - gives undefined for what does not fit
 */
export function bindWindows(
  piece: Piece,
  vectors: VectorLayout,
  bind: (window: Piece) => BoundPiece | undefined,
): readonly BoundWindow[] | undefined {
  const { rowRank, sizes } = piece;
  const whole = bind(piece);
  if (whole !== undefined) return [{ piece, bound: whole }];
  if (farthestAxis(piece, vectors, 0, sizes.length) < rowRank) return undefined;
  const windows: BoundWindow[] = [];
  const open = [piece];
  for (let window = open.pop(); window !== undefined; window = open.pop()) {
    const bound = bind(window);
    if (bound !== undefined) {
      windows.push({ piece: window, bound });
      continue;
    }
    const axis = farthestAxis(window, vectors, rowRank, sizes.length);
    if (axis < 0) return undefined;
    const [first, second] = halves(window, axis, stepAlong(axis, vectors));
    open.push(second, first);
  }
  return windows;
}

/**
 * Two pieces of one that is too large, cut along the axis that is not folded and that an operand reaches farthest along.
 *
 * @throws {BackendError} UNSUPPORTED where none can be cut
 */
export function cutRows(piece: Piece, vectors: VectorLayout): readonly [Piece, Piece] {
  const axis = farthestAxis(piece, vectors, 0, piece.rowRank);
  if (axis < 0)
    throw tooLarge(piece, 'what is read or written by index, or what folds leave, exceeds what can be bound');
  return halves(piece, axis, stepAlong(axis, vectors));
}

/** Says that a piece is more than a device can do. */
export function tooLarge({ geometry }: Piece, why: string): BackendError {
  return new BackendError('UNSUPPORTED', `kernel ${geometry.kernel.name} over [${geometry.shape.join(', ')}]: ${why}`);
}

/** Returns the one of some axes along which the longest operand reaches farthest; -1 if none can be cut. */
function farthestAxis(piece: Piece, vectors: VectorLayout, from: number, to: number): number {
  const byPoint = piece.operands.filter(({ layout }) => !isByIndex(layout));
  const spans = byPoint.map((operand) => reachOf(piece, operand).extent * BYTES_OF[operand.layout.dtype]);
  const longest = byPoint[spans.indexOf(Math.max(...spans))];
  let best = -1;
  let farthest = 0;
  for (let axis = from; axis < to; axis++) {
    const size = piece.sizes[axis] as number;
    if (size <= stepAlong(axis, vectors)) continue;
    // Where it stands still another one, or the number of points, is what is too large.
    const reach = (size - 1) * Math.max(1, longest?.strides[axis] ?? 0);
    if (reach <= farthest) continue;
    [best, farthest] = [axis, reach];
  }
  return best;
}

/** The number whose multiples sizes along an axis stay. */
function stepAlong(axis: number, { axis: own, width, transposed }: VectorLayout): number {
  return axis === own || axis === transposed?.axis ? width : 1;
}
