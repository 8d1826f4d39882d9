import { BackendError } from '@concord/backend-core';
import type { ResolvedRun } from '@concord/backend-core/kernel';
import { runAxes } from '@concord/kernel';
import { launchMap } from '../map/plan-map.ts';
import type { Recorder, Span, StorageBuffer } from '../recorder.ts';
import { launchRows } from '../rows/plan-rows.ts';
import { bindPiece, type VectorLayout } from './bind.ts';
import { halves, narrowed, type Piece, reachOf, wholePiece } from './piece.ts';
import { DTYPE_BYTES } from './operand-spec.ts';

/** Points of a piece are numbered in 32 bits. */
const MAX_POINTS = 2 ** 32 - 2 ** 16;
const MAX_PIECES = 65_536;
/** From this many elements on the last of a row that is no multiple of four get a launch of their own. */
const LEAST_SPLIT = 2 ** 20;

/**
 * Plans a run: in pieces that fit bindings, each by points or by rows.
 *
 * @throws {BackendError} UNSUPPORTED where a row or a gather input exceeds what the device can bind
 */
export function planRun(call: ResolvedRun<StorageBuffer>, recorder: Recorder): void {
  const { geometry, params } = call;
  if (geometry.rowCount === 0) return;
  if (!geometry.kernel.hasRows && geometry.shape.includes(0)) return;
  const memory: readonly (Span | undefined)[] = [...call.inputs, ...call.outputs];
  const pieces = splitTail(wholePiece(geometry, runAxes(geometry)));
  let launched = 0;
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    const vectors = vectorLayout(piece);
    const points = piece.sizes.reduce((product, size) => product * size, 1);
    const bound = points > MAX_POINTS ? undefined : bindPiece(piece, memory, vectors, recorder);
    if (bound === undefined) {
      const [first, second] = cut(piece, vectors);
      pieces.push(second, first);
      continue;
    }
    if (++launched > MAX_PIECES) throw tooLarge(piece, `it would take more than ${MAX_PIECES} pieces`);
    const launch = geometry.kernel.hasRows ? launchRows : launchMap;
    launch(piece, bound, vectors, params, recorder);
  }
}

/** Along which axis vectors lie, and whether there are any. */
function vectorLayout({ geometry, sizes, rowRank, foldRank, operands }: Piece): VectorLayout {
  const last = rowRank - 1;
  const lastFolded = rowRank + foldRank - 1;
  const dense = (axis: number): number =>
    operands.filter(({ layout, strides }) => layout.access !== 'gather' && strides[axis] === 1).length;
  const isAcross = foldRank > 0 && dense(last) > dense(lastFolded) && (sizes[last] as number) > 1;
  const axis = foldRank === 0 || isAcross ? last : lastFolded;
  const isWhole = (sizes[axis] as number) % 4 === 0 && (sizes[axis] as number) > 0;
  const gathersVectors = new Set(isWhole ? vectorGathers(geometry.kernel, geometry.shape.length) : []);
  const width = isWhole && (dense(axis) > 0 || gathersVectors.size > 0) ? 4 : 1;
  return { width, axis, gathersVectors };
}

/** Gather inputs whose last index is the index along the last axis, wherever they are read. */
function vectorGathers({ nodes, inputs }: Piece['geometry']['kernel'], rank: number): readonly number[] {
  return inputs.flatMap(({ name, access }, index) => {
    if (access !== 'gather') return [];
    const isAlong = nodes.every((node) => {
      if (node.kind !== 'gather' || node.name !== name) return true;
      const last = nodes[node.operands.at(-1) as number];
      return last?.kind === 'index' && (last.axis === -1 || last.axis === rank - 1);
    });
    return isAlong ? [index] : [];
  });
}

/** A long array whose length is no multiple of four: what is one goes by vectors. */
function splitTail(piece: Piece): Piece[] {
  const axis = piece.sizes.length - 1;
  const size = piece.sizes[axis] as number;
  if (piece.rowRank !== 1 || piece.foldRank !== 0 || size < LEAST_SPLIT || size % 4 === 0) return [piece];
  const whole = size - (size % 4);
  return [narrowed(piece, axis, whole, size % 4), narrowed(piece, axis, 0, whole)];
}

/** Two pieces of one that is too large, cut where an operand reaches farthest. */
function cut(piece: Piece, vectors: VectorLayout): readonly [Piece, Piece] {
  const spans = piece.operands.map((operand) => reachOf(piece, operand).extent * DTYPE_BYTES[operand.layout.dtype]);
  const longest = piece.operands[spans.indexOf(Math.max(...spans))];
  let best = -1;
  let farthest = 0;
  for (let axis = 0; axis < piece.rowRank; axis++) {
    const size = piece.sizes[axis] as number;
    if (size <= (axis === vectors.axis ? vectors.width : 1)) continue;
    // Where it stands still another one, or the number of points, is what is too large.
    const reach = (size - 1) * Math.max(1, longest?.strides[axis] ?? 0);
    if (reach <= farthest) continue;
    [best, farthest] = [axis, reach];
  }
  if (best < 0) throw tooLarge(piece, 'a row, or a gather input, exceeds what can be bound');
  return halves(piece, best, best === vectors.axis ? vectors.width : 1);
}

function tooLarge({ geometry }: Piece, why: string): BackendError {
  return new BackendError('UNSUPPORTED', `kernel ${geometry.kernel.name} over [${geometry.shape.join(', ')}]: ${why}`);
}
