import { BYTES_OF } from '@concord/backend-core/implement';
import type { ResolvedRun, RunLayout } from '@concord/backend-core/kernel';
import { placeOf, runAxes } from '@concord/kernel';
import { launchMap } from '../map/plan-map.ts';
import { TILE_BYTES } from '../map/tile.wgsl.ts';
import type { DeviceTraits, Recorder, Span, StorageBuffer } from '../recorder.ts';
import { launchRows } from '../rows/plan-rows.ts';
import { bindPiece, PlanScratch, type VectorLayout } from './bind.ts';
import { bindWindows, cutRows, narrowed, type Piece, tooLarge, wholePiece } from './piece.ts';
import { FloatResults } from '@concord/variants';

/** Points of a piece are numbered in 32 bits. */
const MAX_POINTS = 2 ** 32 - 2 ** 16;
const MAX_PIECES = 65_536;
/** The number of elements from which on the last of a row that is no multiple of four get a separate launch. */
const MIN_SPLIT = 2 ** 20;

/**
 * Plans a run: in pieces that fit bindings, each by points or by rows.
 *
 * @throws {BackendError} UNSUPPORTED where a gather input exceeds what the device can bind
 */
export function planRun(call: ResolvedRun<StorageBuffer>, recorder: Recorder): void {
  const { geometry, params } = call;
  if (geometry.rowCount === 0) return;
  if (!geometry.kernel.hasRows && geometry.shape.includes(0)) return;
  const memory: readonly (Span | undefined)[] = [...call.inputs, ...call.outputs];
  const pieces = splitTail(wholePiece(geometry, runAxes(geometry)));
  const scratch = new PlanScratch(recorder);
  let launched = 0;
  for (let piece = pieces.pop(); piece !== undefined; piece = pieces.pop()) {
    const vectors = vectorLayout(piece, recorder.traits);
    const windows = bindWindows(piece, vectors, (window) =>
      pointsOf(window) > MAX_POINTS ? undefined : bindPiece(window, memory, vectors, recorder.traits, scratch),
    );
    const launch = geometry.kernel.hasRows ? launchRows : launchMap;
    if (windows === undefined || !launch(windows, vectors, params, recorder)) {
      const [first, second] = cutRows(piece, vectors);
      pieces.push(second, first);
      continue;
    }
    launched += windows.length;
    if (launched > MAX_PIECES) throw tooLarge(piece, `it would take more than ${MAX_PIECES} pieces`);
  }
}

function pointsOf({ sizes }: Piece): number {
  return sizes.reduce((product, size) => product * size, 1);
}

/** Returns the axis that vectors lie along, and whether there are any. */
function vectorLayout(piece: Piece, traits: DeviceTraits): VectorLayout {
  const { sizes, rowRank, foldedRank, operands } = piece;
  const last = rowRank - 1;
  const lastFolded = rowRank + foldedRank - 1;
  const dense = (axis: number): number =>
    operands.filter(({ layout, strides }) => layout.access === 'element' && strides[axis] === 1).length;
  const isAcross = foldedRank > 0 && dense(last) > dense(lastFolded) && (sizes[last] as number) > 1;
  const axis = foldedRank === 0 || isAcross ? last : lastFolded;
  const isWhole = (sizes[axis] as number) % 4 === 0 && (sizes[axis] as number) > 0;
  const gathersVectors = new Set(isWhole ? vectorGathers(piece, axis) : []);
  // Lanes that write neighbours by index share lines of memory: each of a lane's four would touch one of its own.
  const isByPoint = foldedRank === 0 && !scattersWords(piece, axis);
  const width = isWhole && !isByPoint && (dense(axis) > 0 || gathersVectors.size > 0) ? 4 : 1;
  const layout = { width, axis, gathersVectors } as const;
  // Barriers are expensive where lanes share a core, and caches are large.
  if (foldedRank > 0 || traits.isSoftware) return layout;
  return transposed({ sizes, operands }, layout, Math.floor(traits.maxWorkgroupBytes / TILE_BYTES));
}

/** Shorter axes than this are not worth a tile. */
const MIN_TRANSPOSED = 16;

/**
 * Returns a layout by tiles for a map's inputs that are dense along another axis than the outputs: along the one that
 * most of them are.
 */
function transposed(
  { sizes, operands }: Pick<Piece, 'sizes' | 'operands'>,
  layout: VectorLayout,
  mostInputs: number,
): VectorLayout {
  const isLong = (axis: number): boolean => (sizes[axis] as number) >= MIN_TRANSPOSED;
  const outputs = operands.filter(({ isOutput }) => isOutput);
  if (!isLong(layout.axis) || outputs.some(({ strides }) => strides[layout.axis] !== 1)) return layout;
  const axes = operands.map(({ layout: { access }, isOutput, strides }) =>
    isOutput || access !== 'element' || (strides[layout.axis] as number) <= 1
      ? -1
      : strides.findIndex((stride, axis) => stride === 1 && isLong(axis)),
  );
  const counts = sizes.map((_, axis) => axes.filter((own) => own === axis).length);
  const max = Math.max(...counts);
  if (max === 0 || max > mostInputs) return layout;
  const axis = counts.indexOf(max);
  const inputs = new Set(axes.flatMap((own, index) => (own === axis ? [index] : [])));
  const width = (sizes[axis] as number) % 4 === 0 ? layout.width : 1;
  return { ...layout, width, transposed: { axis, inputs } };
}

/**
 * Gather inputs whose last index is, wherever they are read, the index along the axis of the vectors: those begin at
 * multiples of four of it only where the piece does.
 */
function vectorGathers(piece: Piece, axis: number): readonly number[] {
  const { kernel } = piece.geometry;
  if ((piece.starts[axis] as number) % 4 !== 0) return [];
  return kernel.inputs.flatMap(({ name, access }, index) => {
    if (access !== 'gather') return [];
    const isAlong = kernel.nodes.every(
      (node) => node.kind !== 'gather' || node.name !== name || isIndexAlong(piece, node.operands.at(-1), axis),
    );
    return isAlong ? [index] : [];
  });
}

/** Returns whether a node of a piece's kernel is the index along an axis. */
function isIndexAlong({ geometry: { kernel, shape }, places }: Piece, node: number | undefined, axis: number): boolean {
  const own = kernel.nodes[node as number];
  return own?.kind === 'index' && placeOf({ places, rank: shape.length, unfolded: 0 }, own) === axis;
}

/** Returns whether all that is written by index are halves whose last index runs along an axis: two neighbours fill a word. */
function scattersWords(piece: Piece, axis: number): boolean {
  const { kernel, outputs } = piece.geometry;
  return kernel.outputs.every(
    ({ scatter }, output) =>
      scatter === undefined ||
      (scatter.mode === 'set' &&
        BYTES_OF[(outputs[output] as RunLayout).dtype] === 2 &&
        isIndexAlong(piece, scatter.indices.at(-1), axis)),
  );
}

/** A long array whose length is no multiple of four: what is one goes by vectors. */
function splitTail(piece: Piece): Piece[] {
  const axis = piece.sizes.length - 1;
  const size = piece.sizes[axis] as number;
  if (piece.rowRank !== 1 || piece.foldedRank !== 0 || size < MIN_SPLIT || size % 4 === 0) return [piece];
  const whole = size - (size % 4);
  return [narrowed(piece, axis, whole, size % 4), narrowed(piece, axis, 0, whole)];
}

/** Ops whose results are in float32 before a `run` makes their output of them. */
export const floatResults: FloatResults<StorageBuffer, Recorder> = new FloatResults(
  (geometry, inputs, output, params, recorder) => {
    const isInPlace = inputs.some((input) => input?.buffer === output.buffer && input.byteOffset === output.byteOffset);
    planRun({ geometry, inputs, outputs: [output], params, inPlace: [isInPlace] }, recorder);
  },
);
