import type { DeviceTraits } from '../recorder.ts';
import { type NamedVariant, sizeStep, type VariantQuestion } from '../variant-choice.ts';
import type { DirectTile } from './direct.wgsl.ts';
import { MATRIX_UNITS_IDS } from './matrix-units.ts';
import type { MatrixUnitsTile } from './matrix-units.wgsl.ts';
import { MATVEC_EACH, type MatvecGroup } from './matvec-kernel.ts';
import type { Product } from './product.ts';
import { type Tile, tileBytes, tileInvocations } from './tiled.wgsl.ts';

/** What the choice of a kernel depends on besides the device. */
export type ProductShape = Pick<Product, 'm' | 'n' | 'k' | 'batchCount' | 'transA' | 'transB'>;

/** A kernel family with its tile, and into how many ranges k is split. */
export type Variant = NamedVariant & { readonly splits: number } & Way;

/** A kernel family with its tile. */
type Way =
  | { readonly kind: 'tiled'; readonly tile: Tile }
  | { readonly kind: 'matrix-units'; readonly tile: MatrixUnitsTile }
  | { readonly kind: 'direct'; readonly tile: DirectTile }
  | { readonly kind: 'matvec'; readonly group: MatvecGroup };

/** Tiles for GPUs, largest first. */
export const TILES: readonly Tile[] = [
  { m: 128, n: 128, step: 8, laneM: 8, laneN: 8, buffers: 2 },
  { m: 64, n: 64, step: 16, laneM: 8, laneN: 4, buffers: 2 },
  { m: 32, n: 64, step: 32, laneM: 4, laneN: 4, buffers: 1 },
  { m: 32, n: 32, step: 16, laneM: 4, laneN: 4, buffers: 1 },
];

const SMALLEST_DIRECT_TILE: DirectTile = { rows: 4, columns: 4 };

/** Tiles for software devices, largest first: larger ones compute faster and compile slower. */
export const DIRECT_TILES: readonly DirectTile[] = [
  { rows: 8, columns: 16 },
  { rows: 8, columns: 8 },
  SMALLEST_DIRECT_TILE,
];

/** Tiles of C that are worth the larger tile, and worth its compilation. */
const ENOUGH_DIRECT_TILES = 512;

/** Workgroups for a product with a vector: on GPUs, where M lies by rows and by columns, and on software devices. */
export const MATVEC_GROUPS: Readonly<Record<'rows' | 'columns' | 'software', MatvecGroup>> = {
  rows: { lanes: 1, team: 64 },
  columns: { lanes: 8, team: 32 },
  software: { lanes: 64, team: 1 },
};

/** Workgroups that keep a large GPU busy; a tile is chosen such that there are about so many. */
const ENOUGH_GROUPS = 128;
/** Least number of terms of a split, and those of one member of a team. */
const LEAST_DEPTH = 128;
const LEAST_DEPTH_OF_LANE = 16;

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...TILES.map((tile) => idOf({ kind: 'tiled', tile })),
  ...MATRIX_UNITS_IDS,
  ...DIRECT_TILES.map((tile) => idOf({ kind: 'direct', tile })),
  ...Object.values(MATVEC_GROUPS).map((group) => idOf({ kind: 'matvec', group })),
];

/** What can compute a product, and what is best as far as is known. */
export function variantsFor(shape: ProductShape, traits: DeviceTraits): VariantQuestion<Variant> {
  const { m, n, k, batchCount, transA, transB } = shape;
  const letters = `${transA ? 'T' : 'N'}${transB ? 'T' : 'N'}`;
  const shapeClass = (): string => `gemm ${letters} ${[m, n, k, batchCount].map(sizeStep).join(' ')}`;
  if (m === 1 || n === 1) {
    const preferred = matvecVariant(shape, traits);
    return { shapeClass, candidates: [preferred], preferred };
  }
  const tiled = traits.isSoftware ? [] : tiledVariants(shape, traits);
  if (tiled.length > 0) return { shapeClass, candidates: tiled, preferred: bestTiled(shape, tiled) };
  return { shapeClass, candidates: directVariants(), preferred: bestDirect(shape) };
}

function directVariants(): readonly Variant[] {
  return DIRECT_TILES.map((tile) => named({ kind: 'direct', tile }, 1));
}

function bestDirect({ m, n }: ProductShape): Variant {
  const isWorthwhile = ({ rows, columns }: DirectTile): boolean =>
    Math.floor(m / rows) * Math.floor(n / columns) >= ENOUGH_DIRECT_TILES;
  return named({ kind: 'direct', tile: DIRECT_TILES.find(isWorthwhile) ?? SMALLEST_DIRECT_TILE }, 1);
}

function matvecVariant({ m, n, k, batchCount, transA, transB }: ProductShape, traits: DeviceTraits): Variant {
  if (traits.isSoftware || possibleTiles(traits).length === 0) {
    return named({ kind: 'matvec', group: MATVEC_GROUPS.software }, 1);
  }
  const alongRows = n === 1 ? !transA : transB;
  const group = alongRows ? MATVEC_GROUPS.rows : MATVEC_GROUPS.columns;
  const groups = batchCount * Math.ceil(Math.max(m, n) / (group.lanes * MATVEC_EACH));
  return named({ kind: 'matvec', group }, splitsFor(groups, k, LEAST_DEPTH_OF_LANE * group.team));
}

/** Largest first. */
function tiledVariants(shape: ProductShape, traits: DeviceTraits): readonly TiledVariant[] {
  return possibleTiles(traits).map((tile) => {
    const way = { kind: 'tiled', tile } as const;
    return { id: idOf(way), ...way, splits: splitsFor(groupsOf(tile, shape), shape.k, LEAST_DEPTH) };
  });
}

type TiledVariant = Extract<Variant, { kind: 'tiled' }>;

function bestTiled(shape: ProductShape, largestFirst: readonly TiledVariant[]): Variant {
  const { m, n } = shape;
  // A tile much larger than C computes what nobody wants.
  const worthwhile = largestFirst.filter(({ tile }) => tile.m < 2 * m && tile.n < 2 * n);
  const enough = worthwhile.find(({ tile }) => groupsOf(tile, shape) >= ENOUGH_GROUPS);
  return enough ?? (largestFirst[largestFirst.length - 1] as Variant);
}

function groupsOf(tile: Tile, { m, n, batchCount }: ProductShape): number {
  return batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
}

function named(way: Parameters<typeof idOf>[0], splits: number): Variant {
  return { id: idOf(way), splits, ...way };
}

function idOf(way: Exclude<Way, { kind: 'matrix-units' }>): string {
  if (way.kind === 'tiled') return `gemm/tiled-${way.tile.m}x${way.tile.n}x${way.tile.step}`;
  if (way.kind === 'direct') return `gemm/direct-${way.tile.rows}x${way.tile.columns}`;
  return `gemm/matvec-${way.group.lanes}x${way.group.team}`;
}

/** The tiles that a device has room for, largest first. */
export function possibleTiles({ maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly Tile[] {
  return TILES.filter((tile) => tileInvocations(tile) <= maxInvocations && tileBytes(tile) <= maxWorkgroupBytes);
}

/** Splits k when there are too few workgroups, into ranges of at least `leastDepth` terms. */
function splitsFor(groups: number, k: number, leastDepth: number): number {
  if (groups >= ENOUGH_GROUPS) return 1;
  return Math.max(1, Math.min(Math.ceil(ENOUGH_GROUPS / groups), Math.floor(k / leastDepth)));
}
