import type { DeviceTraits } from '../recorder.ts';
import type { DirectTile } from './direct.wgsl.ts';
import { MATVEC_EACH, type MatvecGroup } from './matvec-kernel.ts';
import type { Product } from './product.ts';
import { type Tile, tileBytes, tileInvocations } from './tiled.wgsl.ts';

/** What the choice of a kernel depends on besides the device. */
export type ProductShape = Pick<Product, 'm' | 'n' | 'k' | 'batchCount' | 'transA' | 'transB'>;

/** A kernel family with its tile, and into how many ranges k is split. */
export type Variant =
  | { readonly kind: 'tiled'; readonly tile: Tile; readonly splits: number }
  | { readonly kind: 'direct'; readonly tile: DirectTile; readonly splits: number }
  | { readonly kind: 'matvec'; readonly group: MatvecGroup; readonly splits: number };

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

/** Chooses the kernel of a product. */
export function chooseVariant(shape: ProductShape, traits: DeviceTraits): Variant {
  return traits.isSoftware ? chooseForSoftware(shape) : chooseForGpu(shape, traits);
}

function chooseForSoftware({ m, n }: ProductShape): Variant {
  if (m === 1 || n === 1) return { kind: 'matvec', group: MATVEC_GROUPS.software, splits: 1 };
  const isWorthwhile = ({ rows, columns }: DirectTile): boolean =>
    Math.floor(m / rows) * Math.floor(n / columns) >= ENOUGH_DIRECT_TILES;
  const tile = DIRECT_TILES.find(isWorthwhile) ?? SMALLEST_DIRECT_TILE;
  return { kind: 'direct', tile, splits: 1 };
}

function chooseForGpu(shape: ProductShape, traits: DeviceTraits): Variant {
  const { m, n, k, batchCount } = shape;
  if (m === 1 || n === 1) {
    const alongRows = n === 1 ? !shape.transA : shape.transB;
    const group = alongRows ? MATVEC_GROUPS.rows : MATVEC_GROUPS.columns;
    const groups = batchCount * Math.ceil(Math.max(m, n) / (group.lanes * MATVEC_EACH));
    return { kind: 'matvec', group, splits: splitsFor(groups, k, LEAST_DEPTH_OF_LANE * group.team) };
  }
  const possible = possibleTiles(traits);
  const groupsOf = (tile: Tile): number => batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
  // A tile much larger than C computes what nobody wants.
  const worthwhile = possible.filter((tile) => tile.m < 2 * m && tile.n < 2 * n);
  const tile = worthwhile.find((candidate) => groupsOf(candidate) >= ENOUGH_GROUPS) ?? possible[possible.length - 1];
  if (tile === undefined) return chooseForSoftware(shape);
  return { kind: 'tiled', tile, splits: splitsFor(groupsOf(tile), k, LEAST_DEPTH) };
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
