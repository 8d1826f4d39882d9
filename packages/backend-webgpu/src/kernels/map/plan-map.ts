import { BYTES_OF } from '@concord/backend-core/implement';
import { type NamedVariant, pickVariant, sizeStep } from '@concord/variants';
import type { Recorder } from '../recorder.ts';
import type { BoundPiece, VectorLayout } from '../run/bind.ts';
import { kernelOfGraph } from '../kernel.ts';
import { launchPiece, specOf, uniformValues } from '../run/launch-piece.ts';
import type { BoundWindow, Piece } from '../run/piece.ts';
import type { OperandSpec, RunSpec } from '../run/run-spec.ts';
import { MAP_LANES, mapKernel, type MapLayout } from './map.wgsl.ts';
import { tileKernel, type TileLayout } from './tile.wgsl.ts';

type Variant = NamedVariant & MapLayout;
type TileVariant = NamedVariant & Pick<TileLayout, 'deep' | 'wide'>;

const variantsOf = (layout: Variant['layout']): readonly Variant[] =>
  ([1, 2, 4] as const).map((unroll) => ({ id: `map/${layout}-${unroll}`, layout, unroll }));
const FLAT = variantsOf('flat');
const GRID = variantsOf('grid');

const TILES: readonly TileVariant[] = [
  { id: 'map/tile-64x32', deep: 64, wide: 32 },
  { id: 'map/tile-32x64', deep: 32, wide: 64 },
  { id: 'map/tile-32x32', deep: 32, wide: 32 },
];

/** Every variant of the family. */
export const VARIANT_IDS: readonly string[] = [...FLAT, ...GRID, ...TILES].map(({ id }) => id);

/** The nodes beyond which a lane computes one vector at a time. */
const MAX_NODES_TWICE = 64;
/** A grid may waste this share of its lanes at the right edge. */
const MAX_WASTE = 1 / 8;

type MapSpec = RunSpec & MapLayout;

/** Launches a kernel without folds over a piece, which is one window. */
export function launchMap(
  [window]: readonly BoundWindow[],
  vectors: VectorLayout,
  params: readonly number[],
  recorder: Recorder,
): boolean {
  const { piece, bound } = window as BoundWindow;
  if (vectors.transposed !== undefined) {
    launchTiles(piece, bound, vectors, params, recorder);
    return true;
  }
  const spec = specOf(piece, bound, vectors);
  const sizes = piece.sizes.map((size, axis) => (axis === vectors.axis ? size / vectors.width : size));
  const count = sizes.reduce((product, size) => product * size, 1);
  const variant = chooseVariant(spec, sizes, recorder);
  const { id, ...layout } = variant;
  const kernel = kernelOfGraph<MapSpec>('map', { ...spec, ...layout }, (name, { layout: kind, unroll, ...own }) =>
    mapKernel(`${name} ${kind} x${unroll}`, own, { layout: kind, unroll }),
  );
  const uniforms = { count, ...uniformValues(piece, bound, spec, params) };
  if (variant.layout === 'flat') {
    const groups = Math.ceil(count / (MAP_LANES * variant.unroll));
    launchPiece(recorder, bound, kernel, { uniforms, groups, variant: id });
    return true;
  }
  const grid = gridOf(sizes, variant.unroll, recorder.traits.maxWorkgroupsPerDimension);
  launchPiece(recorder, bound, kernel, { uniforms, groups: grid[0] * grid[1] * grid[2], grid, variant: id });
  return true;
}

/** Launches a kernel some of whose inputs are transposed. */
function launchTiles(
  piece: Piece,
  bound: BoundPiece,
  vectors: VectorLayout,
  params: readonly number[],
  recorder: Recorder,
): void {
  const spec = specOf(piece, bound, vectors);
  const { axis: across, inputs } = vectors.transposed as NonNullable<VectorLayout['transposed']>;
  const fits = TILES.filter(
    ({ deep, wide }) => 4 * inputs.size * wide * (deep + 1) <= recorder.traits.maxWorkgroupBytes,
  );
  const { id, deep, wide } = pickVariant(recorder, {
    shapeClass: () => `map transposed x${spec.width} ${spec.kernel.name} ${piece.sizes.map(sizeStep).join(' ')}`,
    candidates: fits,
    preferred: fits[0] as TileVariant,
  });
  const tile: TileLayout = { layout: 'tile', across, deep, wide };
  const kernel = kernelOfGraph<RunSpec & TileLayout>('map', { ...spec, ...tile }, (name, own) =>
    tileKernel(`${name} tile ${deep}x${wide}`, own, own),
  );
  const [tilesWide, tilesDeep] = [
    Math.ceil((piece.sizes[vectors.axis] as number) / wide),
    Math.ceil((piece.sizes[across] as number) / deep),
  ];
  const others = piece.sizes.reduce(
    (all, size, axis) => (axis === across || axis === vectors.axis ? all : all * size),
    1,
  );
  launchPiece(recorder, bound, kernel, {
    uniforms: { tiles_wide: tilesWide, tiles_deep: tilesDeep, ...uniformValues(piece, bound, spec, params) },
    groups: tilesWide * tilesDeep * others,
    variant: id,
  });
}

function chooseVariant(spec: RunSpec, sizes: readonly number[], recorder: Recorder): Variant {
  const { traits } = recorder;
  const [rows, columns] = [sizes.at(-2) ?? 1, sizes.at(-1) as number];
  const isPlane = sizes.length === 2 && rows > 1;
  const [x, y, z] = isPlane ? gridOf(sizes, 1, traits.maxWorkgroupsPerDimension) : [0, 0, 0];
  const canGrid = isPlane && Math.max(x, y, z) <= traits.maxWorkgroupsPerDimension;
  const waste = 1 - columns / (x * MAP_LANES);
  const unroll = unrollOf(spec);
  const preferred = (canGrid && waste <= MAX_WASTE ? GRID : FLAT).find((variant) => variant.unroll === unroll);
  const shapeClass = (): string => `map ${spec.kernel.name} ${sizes.map(sizeStep).join(' ')}`;
  const candidates = canGrid ? [...FLAT, ...GRID] : FLAT;
  return pickVariant(recorder, { shapeClass, candidates, preferred: preferred as Variant });
}

/**
 * Plain copies gain nothing from a second vector; what computes, casts or moves axes does. What is written by index, element by
 * element, waits for each word.
 */
function unrollOf({ kernel, operands, rowRank, width }: RunSpec): Variant['unroll'] {
  if (width === 1 && kernel.outputs.some(({ scatter }) => scatter !== undefined)) return 4;
  const bytes = (operand: OperandSpec | undefined): number => (operand === undefined ? 4 : BYTES_OF[operand.dtype]);
  const isCopy = kernel.nodes.every(({ kind }) => kind === 'input' || kind === 'spread');
  const isCast = bytes(operands.at(-1)) !== bytes(operands[0]);
  return (isCopy && !isCast && rowRank === 1) || kernel.nodes.length > MAX_NODES_TWICE ? 1 : 2;
}

function gridOf(sizes: readonly number[], unroll: number, max: number): readonly [number, number, number] {
  const [rows, columns] = [sizes.at(-2) as number, sizes.at(-1) as number];
  const all = Math.ceil(rows / unroll);
  const z = Math.ceil(all / max);
  return [Math.ceil(columns / MAP_LANES), Math.ceil(all / z), z];
}
