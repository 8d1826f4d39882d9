import type { DeviceTraits } from '../recorder.ts';
import { TILE_KEYS, type TiledParams, tiledLanes, tiledLocalBytes } from './tiled.spv.ts';
import { WIDE_QUERIES, type WideParams } from './wide.spv.ts';

/** What the choice of a kernel depends on. */
export interface AttentionSizes {
  /** Of all batches. */
  readonly heads: number;
  readonly queries: number;
  /** That some query sees. */
  readonly keys: number;
  readonly headDim: number;
}

/** The kernel for a call, with the parameters that it is made with, and into how many parts it takes the keys. */
export type AttentionVariant = { readonly splits: number } & (
  | { readonly kind: 'row' }
  | ({ readonly kind: 'wide' } & Omit<WideParams, 'partial'>)
  | ({ readonly kind: 'tiled' } & Omit<TiledParams, 'partial'>)
);

/** Columns of a vector of the CPU kernels. */
const LANES = 16;
/** Queries up to which laying out K costs more than it saves. */
const FEW_QUERIES = 3;
/** Groups of work-items per compute unit that keep a device busy. */
const ENOUGH_GROUPS = 4;
/** Fewest keys that are worth a split of their own. */
const LEAST_SPLIT_KEYS = 256;

/** Queries of the largest tile that is taken also where it leaves a device idle, unless keys are split. */
export const MOST_SPLIT_QUERIES = 32;

/** What `wide` can be made with. */
export const COLUMNS: readonly WideParams['columns'][] = [16, 32];
/** What `tiled` can be made with. */
export const TILES: readonly Omit<TiledParams, 'partial'>[] = [16, 32, 64].flatMap((queries) =>
  [64, 128, 256].map((headDim) => ({ queries, headDim })),
);

/** `wide` on CPUs, `row` there for few queries; `tiled` on GPUs. */
export function chooseVariant(sizes: AttentionSizes, traits: DeviceTraits): AttentionVariant {
  const { heads, queries, headDim } = sizes;
  if (!traits.isCpuLike) return chooseTiled(sizes, traits);
  if (queries <= FEW_QUERIES && headDim >= LANES) {
    return { kind: 'row', splits: splitsFor(heads * queries, sizes, traits) };
  }
  const groups = heads * Math.ceil(queries / WIDE_QUERIES);
  return { kind: 'wide', columns: headDim < 2 * LANES ? 16 : 32, splits: splitsFor(groups, sizes, traits) };
}

/** The tiles that a device has work-items and memory for. */
export function fittingTiles({ maxGroupSize, maxLocalBytes }: DeviceTraits): typeof TILES {
  return TILES.filter((tile) => tiledLanes(tile) <= maxGroupSize && tiledLocalBytes(tile) <= maxLocalBytes);
}

/** Keys of a split; the last may have fewer. */
export function splitKeys(keys: number, splits: number): number {
  return Math.ceil(keys / splits / TILE_KEYS) * TILE_KEYS;
}

/** Large blocks of queries read K and V less often; small ones waste less and make more groups. */
function chooseTiled(sizes: AttentionSizes, traits: DeviceTraits): AttentionVariant {
  const { heads, queries, headDim } = sizes;
  const groupsOf = (tile: { readonly queries: number }): number => heads * Math.ceil(queries / tile.queries);
  const fitting = fittingTiles(traits);
  const columns = fitting.find((tile) => tile.headDim >= headDim)?.headDim;
  const tiles = fitting.filter((tile) => tile.headDim === columns);
  const busy = tiles.filter((tile) => groupsOf(tile) >= ENOUGH_GROUPS * traits.computeUnits).at(-1);
  const least = tiles.find((tile) => tile.queries >= Math.min(queries, MOST_SPLIT_QUERIES));
  const chosen = [busy, least, tiles[0]].filter((tile) => tile !== undefined);
  const [tile] = chosen.sort((x, y) => y.queries - x.queries);
  if (tile === undefined) throw new Error(`no tile of attention for ${headDim} columns`);
  return { kind: 'tiled', ...tile, splits: splitsFor(groupsOf(tile), sizes, traits) };
}

/** The number of parts to take the keys in: 1 unless there are few groups and many keys. */
function splitsFor(groups: number, { keys }: AttentionSizes, traits: DeviceTraits): number {
  const wanted = Math.ceil((ENOUGH_GROUPS * traits.computeUnits) / groups);
  const splits = Math.max(1, Math.min(wanted, Math.floor(keys / LEAST_SPLIT_KEYS)));
  return Math.ceil(keys / splitKeys(keys, splits));
}
