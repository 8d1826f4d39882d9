import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
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
  readonly causal: boolean;
}

/** The kernel for a call, with the parameters that it is made with, and into how many parts it takes the keys. */
export type AttentionVariant = NamedVariant & { readonly splits: number } & Way;

type Way =
  | { readonly kind: 'row' }
  | ({ readonly kind: 'wide' } & Omit<WideParams, 'partial'>)
  | ({ readonly kind: 'tiled' } & Omit<TiledParams, 'partial'>);

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

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  ...TILES.map((tile) => idOf({ kind: 'tiled', ...tile })),
  ...COLUMNS.map((columns) => idOf({ kind: 'wide', columns })),
  idOf({ kind: 'row' }),
];

/** What can attend, best first as far as is known: `wide` on CPUs, `row` there for few queries; `tiled` on GPUs. */
export function variantsFor(sizes: AttentionSizes, traits: DeviceTraits): VariantQuestion<AttentionVariant> {
  const { heads, queries, keys, headDim, causal } = sizes;
  const steps = [heads, queries, keys, headDim].map(sizeStep).join(' ');
  const candidates = traits.isCpuLike ? cpuVariants(sizes, traits) : tiledVariants(sizes, traits);
  const [preferred] = candidates;
  if (preferred === undefined) throw new Error(`no tile of attention for ${headDim} columns`);
  return { shapeClass: () => `attention ${causal ? 'causal ' : ''}${steps}`, candidates, preferred };
}

/** A way with its id. */
export function named(way: Way, splits: number): AttentionVariant {
  return { id: idOf(way), splits, ...way };
}

function idOf(way: Way): string {
  if (way.kind === 'row') return 'attention/row';
  if (way.kind === 'wide') return `attention/wide-${way.columns}`;
  return `attention/tiled-${way.queries}x${way.headDim}`;
}

function cpuVariants(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, headDim } = sizes;
  const groups = heads * Math.ceil(queries / WIDE_QUERIES);
  const wide = named({ kind: 'wide', columns: headDim < 2 * LANES ? 16 : 32 }, splitsFor(groups, sizes, traits));
  if (headDim < LANES) return [wide];
  const row = named({ kind: 'row' }, splitsFor(heads * queries, sizes, traits));
  return queries <= FEW_QUERIES ? [row, wide] : [wide, row];
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
function tiledVariants(sizes: AttentionSizes, traits: DeviceTraits): readonly AttentionVariant[] {
  const { heads, queries, headDim } = sizes;
  const groupsOf = (tile: { readonly queries: number }): number => heads * Math.ceil(queries / tile.queries);
  const possible = fittingTiles(traits).filter((tile) => tile.headDim >= headDim);
  const tiles = possible.filter((tile) => tile.headDim === possible[0]?.headDim);
  const busy = tiles.filter((tile) => groupsOf(tile) >= ENOUGH_GROUPS * traits.computeUnits).at(-1);
  const least = tiles.find((tile) => tile.queries >= Math.min(queries, MOST_SPLIT_QUERIES));
  const best = [busy, least, tiles[0]].filter((tile) => tile !== undefined).sort((x, y) => y.queries - x.queries)[0];
  if (best === undefined) return [];
  return [best, ...possible.filter((tile) => tile !== best)].map((tile) => {
    // Large tiles are taken whole: they make groups enough, or somebody forces them.
    const splits = tile.queries > MOST_SPLIT_QUERIES ? 1 : splitsFor(groupsOf(tile), sizes, traits);
    return named({ kind: 'tiled', ...tile }, splits);
  });
}

/** The number of parts to take the keys in: 1 unless there are few groups and many keys. */
function splitsFor(groups: number, { keys }: AttentionSizes, traits: DeviceTraits): number {
  const wanted = Math.ceil((ENOUGH_GROUPS * traits.computeUnits) / groups);
  const splits = Math.max(1, Math.min(wanted, Math.floor(keys / LEAST_SPLIT_KEYS)));
  return Math.ceil(keys / splitKeys(keys, splits));
}
