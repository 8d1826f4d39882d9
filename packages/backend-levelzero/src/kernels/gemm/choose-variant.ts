import type { DeviceTraits } from '../recorder.ts';
import { LEAST_STRIP, matvecGroups, matvecShape, type MatvecVariant } from './launch-matvec.ts';
import type { ProductShape } from './product.ts';
import { SUBGROUP_ROWS, SUBGROUPS, subgroupTile } from './subgroup.spv.ts';
import { type Tile, tileBytes, tileGroup } from './tile.ts';
import { LANES, PANEL_COLUMNS, PANEL_ROWS } from './wide-shape.ts';

/** A kernel family with its parameters, and into how many ranges k is split. */
export type Variant =
  | MatvecVariant
  | { readonly kind: 'wide' }
  | { readonly kind: 'direct'; readonly splits: number }
  | { readonly kind: 'local'; readonly tile: Tile; readonly splits: number }
  | { readonly kind: 'subgroup'; readonly lanes: number; readonly splits: number };

/** Tiles for GPUs, largest first. */
export const TILES: readonly Tile[] = [
  { m: 128, n: 64, laneM: 8, laneN: 4 },
  { m: 64, n: 64, laneM: 4, laneN: 4 },
  { m: 32, n: 32, laneM: 4, laneN: 4 },
];

/** Lanes of sub-groups that there are kernels for, best first. */
export const SUBGROUP_LANES: readonly number[] = [16, 8];

/** Groups for each compute unit of a GPU that keep it busy. */
const GROUPS_EACH = 4;
/** Work-items for each thread of a processor. */
const ITEMS_EACH = 4;
/** Least number of terms of a split. */
const LEAST_DEPTH = 1024;

/** Products of fewer terms in all, sums times terms, are not worth packing. */
const FEW_TERMS = 8192;
/** So many terms of a wide tile take as long as one of a direct kernel. */
const WIDE_ADVANTAGE = 16;
/**
 * Most vectors for which a matrix that lies row by row is not packed: it is read from the cache again for each four.
 */
const FEW_VECTORS = 16;

/** Chooses the kernel of a product. */
export function chooseVariant(shape: ProductShape, traits: DeviceTraits): Variant {
  return traits.isCpuLike ? chooseForProcessor(shape, traits) : chooseForGpu(shape, traits);
}

function chooseForProcessor(shape: ProductShape, { computeUnits }: DeviceTraits): Variant {
  const { m, n, k, batchCount } = shape;
  const wanted = ITEMS_EACH * computeUnits;
  const direct: Variant = { kind: 'direct', splits: splitsFor(Math.ceil((m * n * batchCount) / 64), k, wanted) };
  const matvec = matvecShape(shape);
  const { alongRows, rows, vectors } = matvec;
  const isFew = alongRows ? vectors <= FEW_VECTORS && rows >= 2 * vectors : vectors === 1 && rows >= LEAST_STRIP;
  if (isFew && k >= LANES) {
    const groups = batchCount * matvecGroups(matvec, 'vectors');
    return { kind: 'matvec', by: 'vectors', splits: splitsFor(groups, k, wanted) };
  }
  const terms = m * n * k;
  const tiles = Math.ceil(m / PANEL_ROWS) * Math.ceil(n / PANEL_COLUMNS);
  const isWorthwhile = tiles * PANEL_ROWS * PANEL_COLUMNS * k <= WIDE_ADVANTAGE * terms;
  return isWorthwhile && terms * batchCount >= FEW_TERMS ? { kind: 'wide' } : direct;
}

function chooseForGpu(shape: ProductShape, traits: DeviceTraits): Variant {
  const { m, n, k, batchCount } = shape;
  const wanted = GROUPS_EACH * traits.computeUnits;
  if (m === 1 || n === 1) {
    const groups = batchCount * matvecGroups(matvecShape(shape), 'teams');
    return { kind: 'matvec', by: 'teams', splits: splitsFor(groups, k, wanted) };
  }
  const groupsOf = (tile: Pick<Tile, 'm' | 'n'>): number => batchCount * Math.ceil(m / tile.m) * Math.ceil(n / tile.n);
  const possible = possibleTiles(traits);
  const largest = possible.find((tile) => groupsOf(tile) >= wanted);
  const tile = largest ?? possible.at(-1);
  if (tile === undefined || Math.min(m, n) < SUBGROUP_ROWS) {
    return { kind: 'direct', splits: splitsFor(Math.ceil((m * n * batchCount) / 64), k, wanted) };
  }
  const lanes = lanesOf(traits);
  const isInOrder = !shape.transA && !shape.transB;
  // The largest tile reads the least; between smaller ones and no barriers, no barriers are better.
  if (lanes !== undefined && isInOrder && largest !== possible[0]) {
    const groups = groupsOf(subgroupTile(lanes));
    return { kind: 'subgroup', lanes, splits: splitsFor(groups, k, wanted) };
  }
  return { kind: 'local', tile, splits: splitsFor(groupsOf(tile), k, wanted) };
}

/** The tiles that a device has room for, largest first. */
export function possibleTiles({ maxGroupSize, maxLocalBytes }: DeviceTraits): readonly Tile[] {
  return TILES.filter((tile) => {
    const [x, y] = tileGroup(tile);
    return x * y <= maxGroupSize && tileBytes(tile) <= maxLocalBytes;
  });
}

/** The best size of sub-groups that there are kernels for. */
export function lanesOf({ subgroupSizes, maxGroupSize }: DeviceTraits): number | undefined {
  return SUBGROUP_LANES.find((lanes) => subgroupSizes.includes(lanes) && lanes * SUBGROUPS <= maxGroupSize);
}

/** Splits k when there are too few groups, into ranges of at least {@link LEAST_DEPTH} terms. */
function splitsFor(groups: number, k: number, wanted: number): number {
  if (groups >= wanted) return 1;
  return Math.max(1, Math.min(Math.ceil(wanted / groups), Math.floor(k / LEAST_DEPTH)));
}
