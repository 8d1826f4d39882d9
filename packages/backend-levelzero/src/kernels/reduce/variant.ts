import type { DeviceTraits } from '../recorder.ts';
import { COLUMNS_RUN_TILE } from './columns-run.spv.ts';
import { PACKED_COLUMNS, type PackedColumns } from './rows-run.spv.ts';
import { type RowTeam, SUBGROUP_ROWS_GROUP } from './rows-subgroup.spv.ts';
import { TEAM_GROUP } from './team.spv.ts';

/** Sizes of a reduction of a packed tensor `[outer, length, inner]` over its middle axis. */
export interface Extents {
  readonly outer: number;
  readonly length: number;
  readonly inner: number;
}

/** Which kernel reduces, and the parts of the axis that are reduced each by itself: `chunk` elements long. */
export type Variant = { readonly chunk: number } & (
  | { readonly kind: 'rows-run'; readonly columns: PackedColumns }
  | { readonly kind: 'columns-run' | 'lane' }
  | { readonly kind: 'rows-subgroup'; readonly team: RowTeam; readonly size: number }
  | { readonly kind: 'team'; readonly tile: number; readonly team: number }
);

/** Pieces of work for each thread of a CPU, so that they end at about the same time. */
export const RUNS_PER_THREAD = 8;
/** Elements that are not worth sharing out among threads. */
export const LEAST_RUN = 8192;
/**
 * Rows of an axis that are added in one pass. One chain of additions is at most 280 long: 64 sums side by side in a
 * row, 4 in narrow columns. In wide columns it is one, which is good for up to 1,024 rows all together.
 */
const MOST = { row: 16_384, wide: 256, narrow: 1024, single: 1024, lane: 1024 };

/** Work-items that keep a core of a GPU busy. */
const LANES_PER_UNIT = 2048;
/** Most neighbouring columns in a block of a group. */
const WIDEST_TILE = 64;
/**
 * Fewer columns than this, if they are long, are read by teams even where there are many: neighbours would read far
 * apart.
 */
const NARROW = { columns: 16, length: 64 };
/** Elements of a work-item that are worth a part of their own. */
const LEAST_SHARE = 16;
/** The size of sub-groups that Intel's GPUs all have. */
const USUAL_SUBGROUP = 16;

/**
 * Chooses how a tensor is reduced. Where there are fewer results than keep the device busy, and where a chain of
 * additions would get too long, the axis is cut into parts; their results are reduced in turn.
 */
export function chooseVariant(extents: Extents, traits: DeviceTraits): Variant {
  if (traits.isCpuLike) return rowsRun(extents, traits) ?? columnsRun(extents, traits);
  return subgroupVariant(extents, traits) ?? laneVariant(extents, traits);
}

/** The size of sub-groups that kernels ask for; undefined where there are none to use. */
export function subgroupSizeOf({ subgroupSizes }: DeviceTraits): number | undefined {
  const fitting = subgroupSizes.filter((size) => size > 1 && SUBGROUP_ROWS_GROUP % size === 0);
  return fitting.includes(USUAL_SUBGROUP) ? USUAL_SUBGROUP : fitting[0];
}

function rowsRun({ outer, length, inner }: Extents, traits: DeviceTraits): Variant | undefined {
  const columns = PACKED_COLUMNS.find((count) => count === inner);
  if (columns === undefined) return undefined;
  const wanted = (traits.computeUnits * RUNS_PER_THREAD) / outer;
  const chunk = chunkOf(length, wanted, { least: LEAST_RUN / columns, most: MOST.row / columns });
  return { kind: 'rows-run', columns, chunk };
}

function columnsRun({ outer, length, inner }: Extents, traits: DeviceTraits): Variant {
  const tiles = Math.ceil(inner / COLUMNS_RUN_TILE);
  const width = Math.min(inner, COLUMNS_RUN_TILE);
  const wanted = (traits.computeUnits * RUNS_PER_THREAD) / (outer * tiles);
  const cut = width < COLUMNS_RUN_TILE ? MOST.narrow : MOST.wide;
  const most = length <= MOST.single ? MOST.single : cut;
  return { kind: 'columns-run', chunk: chunkOf(length, wanted, { least: Math.ceil(LEAST_RUN / width), most }) };
}

function subgroupVariant({ outer, length, inner }: Extents, traits: DeviceTraits): Variant | undefined {
  const size = subgroupSizeOf(traits);
  if (inner > 1 || size === undefined || length < 2 * size) return undefined;
  const areFew = outer * SUBGROUP_ROWS_GROUP <= traits.computeUnits * LANES_PER_UNIT;
  const team = length >= (areFew ? 256 : 2048) ? 'group' : 'subgroup';
  const mates = team === 'group' ? SUBGROUP_ROWS_GROUP : size;
  return { kind: 'rows-subgroup', team, size, chunk: chunkOfTeam(mates, outer, length, traits) };
}

function laneVariant({ outer, length, inner }: Extents, traits: DeviceTraits): Variant {
  const busy = traits.computeUnits * LANES_PER_UNIT;
  const tile = Math.ceil(inner / Math.ceil(inner / WIDEST_TILE));
  const isNarrow = inner < NARROW.columns && length >= NARROW.length;
  const mates = Math.min(Math.floor(TEAM_GROUP / tile), Math.ceil(length / 4));
  if (mates > 1 && (isNarrow || outer * inner < busy)) {
    return { kind: 'team', tile, team: mates, chunk: chunkOfTeam(mates, outer * inner, length, traits) };
  }
  return { kind: 'lane', chunk: chunkOfTeam(1, outer * inner, length, traits) };
}

function chunkOfTeam(mates: number, results: number, length: number, { computeUnits }: DeviceTraits): number {
  const wanted = (computeUnits * LANES_PER_UNIT) / (results * mates);
  return chunkOf(length, wanted, { least: mates * LEAST_SHARE, most: mates * MOST.lane });
}

/** Cuts an axis into `wanted` or fewer equal parts of at least `least`, but into as many as `most` asks for. */
function chunkOf(length: number, wanted: number, { least, most }: { least: number; most: number }): number {
  const parts = Math.max(Math.min(Math.floor(wanted), Math.floor(length / least)), Math.ceil(length / most));
  return parts <= 1 ? length : Math.min(most, Math.ceil(length / parts / 64) * 64);
}
