import type { DType } from '@concord/backend-core';
import type { DeviceTraits } from '../recorder.ts';
import type { DirectTile } from './direct.wgsl.ts';
import { type Tile, tileBytes, tileInvocations } from './tiled.wgsl.ts';

/** What the choice of a kernel depends on besides the device. */
export interface ProductShape {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  readonly batchCount: number;
  readonly transA: boolean;
  readonly transB: boolean;
  readonly dtype: DType;
}

/** A kernel family with its tile, and into how many ranges k is split. */
export type Variant =
  | { readonly kind: 'tiled'; readonly tile: Tile; readonly splits: number }
  | { readonly kind: 'direct'; readonly tile: DirectTile; readonly splits: number }
  | { readonly kind: 'matvec'; readonly team: number; readonly splits: number };

/** Tiles for GPUs, largest first. */
export const TILES: readonly Tile[] = [
  { m: 128, n: 128, step: 8, laneM: 8, laneN: 8, buffers: 2 },
  { m: 64, n: 64, step: 16, laneM: 8, laneN: 4, buffers: 1 },
  { m: 32, n: 64, step: 16, laneM: 8, laneN: 4, buffers: 1 },
  { m: 32, n: 32, step: 16, laneM: 4, laneN: 4, buffers: 1 },
];

/** Tiles for software devices, largest first. */
export const DIRECT_TILES: readonly DirectTile[] = [
  { rows: 8, columns: 16 },
  { rows: 4, columns: 4 },
];

/** Members of a team for a product with a vector: on a GPU by rows and by columns, on a software device none. */
export const MATVEC_TEAMS = { rows: 64, columns: 4 } as const;

/** Workgroups that keep a large GPU busy; a tile is chosen such that there are about so many. */
const ENOUGH_GROUPS = 128;
/** Least number of terms of a split. */
const LEAST_DEPTH = 128;

/** Chooses the kernel of a product. */
export function chooseVariant(shape: ProductShape, traits: DeviceTraits): Variant {
  return traits.isSoftware ? chooseForSoftware(shape) : chooseForGpu(shape, traits);
}

function chooseForSoftware({ m, n }: ProductShape): Variant {
  if (m === 1 || n === 1) return { kind: 'matvec', team: 1, splits: 1 };
  const [large, small] = DIRECT_TILES as [DirectTile, DirectTile];
  return { kind: 'direct', tile: m * n >= 64 * 64 ? large : small, splits: 1 };
}

function chooseForGpu(shape: ProductShape, traits: DeviceTraits): Variant {
  const { m, n, k, batchCount } = shape;
  if (m === 1 || n === 1) {
    const alongRows = n === 1 ? !shape.transA : shape.transB;
    const entries = Math.max(m, n);
    const groups = batchCount * Math.ceil(entries / (alongRows ? 4 : 256));
    const team = alongRows ? MATVEC_TEAMS.rows : MATVEC_TEAMS.columns;
    return { kind: 'matvec', team, splits: splitsFor(groups, k, alongRows ? 2048 : 64) };
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
