import { BYTES_OF } from '@concord/backend-core/implement';
import { BackendError } from '@concord/backend-core';
import type { BoundPiece, VectorLayout } from './bind.ts';
import { halves, type Piece, reachOf } from './piece.ts';

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
  if (axis < 0) throw tooLarge(piece, 'a gather input, or what folds leave, exceeds what can be bound');
  return halves(piece, axis, stepAlong(axis, vectors));
}

/** Says that a piece is more than a device can do. */
export function tooLarge({ geometry }: Piece, why: string): BackendError {
  return new BackendError('UNSUPPORTED', `kernel ${geometry.kernel.name} over [${geometry.shape.join(', ')}]: ${why}`);
}

/** Of the axes from one up to another, the one along which the longest operand reaches farthest; -1 where none can be cut. */
function farthestAxis(piece: Piece, vectors: VectorLayout, from: number, to: number): number {
  const byPoint = piece.operands.filter(({ layout }) => layout.access !== 'gather');
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
function stepAlong(axis: number, { axis: own, width, turned }: VectorLayout): number {
  return axis === own || axis === turned?.axis ? width : 1;
}
