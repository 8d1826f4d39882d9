import type { CheckedRun, RunLayout } from '@concord/backend-core/kernel';
import { type RunAxes, padAxes } from '@concord/kernel';

/** A box of the coalesced domain of a run: what one series of launches computes. */
export interface Piece {
  readonly geometry: CheckedRun;
  /** Sizes of the box: axes that are not folded, then those that are, both padded to a rank class. */
  readonly sizes: readonly number[];
  /** Where it begins along each axis. */
  readonly starts: readonly number[];
  /** Sizes of the whole domain along the same axes. */
  readonly full: readonly number[];
  readonly rowRank: number;
  readonly foldRank: number;
  /** Inputs, then outputs. */
  readonly operands: readonly PieceOperand[];
  /** Where the indices of the call's axes are found among the padded axes. */
  readonly places: Readonly<Record<number, number>>;
}

/** The maximum number of axes of a call: the uniforms of as many fit, whichever of them are folded. */
const MAX_AXES = 8;

/** An operand with its strides along all axes of the piece; a gather input has those of its own axes. */
export interface PieceOperand {
  readonly layout: RunLayout;
  readonly isOutput: boolean;
  readonly strides: readonly number[];
}

/** The whole domain as a piece. */
export function wholePiece(geometry: CheckedRun, axes: RunAxes): Piece {
  const rows = padAxes(axes.rows, MAX_AXES - axes.folded.sizes.length);
  const folded = geometry.kernel.hasRows
    ? padAxes(axes.folded, MAX_AXES - rows.sizes.length)
    : { sizes: [], strides: axes.folded.strides };
  const shift = rows.sizes.length - axes.rows.sizes.length;
  const foldShift = shift + folded.sizes.length - axes.folded.sizes.length;
  const layouts = [...geometry.inputs, ...geometry.outputs];
  const sizes = [...rows.sizes, ...folded.sizes];
  return {
    geometry,
    sizes,
    starts: sizes.map(() => 0),
    full: sizes,
    rowRank: rows.sizes.length,
    foldRank: folded.sizes.length,
    operands: layouts.map((layout, index) => ({
      layout,
      isOutput: index >= geometry.inputs.length,
      strides:
        layout.access === 'gather'
          ? layout.strides
          : [...(rows.strides[index] as readonly number[]), ...(folded.strides[index] as readonly number[])],
    })),
    places: Object.fromEntries(
      [...axes.places].map(([axis, place]) => [axis, place + (place < axes.rows.sizes.length ? shift : foldShift)]),
    ),
  };
}

/** Elements from the operand's first to the piece's first, and from that to the piece's last, both counted. */
export function reachOf(
  { sizes, starts }: Piece,
  { layout, strides }: PieceOperand,
): { first: number; extent: number } {
  if (layout.access === 'gather') return { first: 0, extent: layout.extent };
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
export function halves(piece: Piece, axis: number, step: number): readonly [Piece, Piece] {
  const size = piece.sizes[axis] as number;
  const first = Math.max(step, Math.floor(size / 2 / step) * step);
  return [narrowed(piece, axis, 0, first), narrowed(piece, axis, first, size - first)];
}
