import { type NamedVariant, sizeStep, type VariantQuestion } from '@concord/variants';
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
export type Variant = NamedVariant & { readonly chunk: number } & (
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

/** Every variant, of which each device and shape has some. */
export const VARIANT_IDS: readonly string[] = [
  'reduce/rows-run',
  'reduce/columns-run',
  'reduce/rows-subgroup',
  'reduce/rows-group',
  'reduce/team',
  'reduce/lane',
];

/**
 * How a tensor can be reduced, and what is best as far as is known. Where there are fewer results than keep the device
 * busy, and where a chain of additions would get too long, the axis is cut into parts; their results are reduced in turn.
 */
export function variantsFor(extents: Extents, traits: DeviceTraits): VariantQuestion<Variant> {
  const { outer, length, inner } = extents;
  const shapeClass = (): string => `reduce ${[outer, length, inner].map(sizeStep).join(' ')}`;
  const candidates = traits.isCpuLike ? cpuVariants(extents, traits) : gpuVariants(extents, traits);
  return { shapeClass, candidates, preferred: candidates[0] as Variant };
}

/** Best first, as those of a GPU. */
function cpuVariants(extents: Extents, traits: DeviceTraits): readonly Variant[] {
  const rows = rowsRun(extents, traits);
  return [...(rows === undefined ? [] : [rows]), columnsRun(extents, traits)];
}

function gpuVariants(extents: Extents, traits: DeviceTraits): readonly Variant[] {
  return [...subgroupVariants(extents, traits), ...laneVariants(extents, traits)];
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
  return { id: 'reduce/rows-run', kind: 'rows-run', columns, chunk };
}

function columnsRun({ outer, length, inner }: Extents, traits: DeviceTraits): Variant {
  const tiles = Math.ceil(inner / COLUMNS_RUN_TILE);
  const width = Math.min(inner, COLUMNS_RUN_TILE);
  const wanted = (traits.computeUnits * RUNS_PER_THREAD) / (outer * tiles);
  const cut = width < COLUMNS_RUN_TILE ? MOST.narrow : MOST.wide;
  const most = length <= MOST.single ? MOST.single : cut;
  const chunk = chunkOf(length, wanted, { least: Math.ceil(LEAST_RUN / width), most });
  return { id: 'reduce/columns-run', kind: 'columns-run', chunk };
}

function subgroupVariants({ outer, length, inner }: Extents, traits: DeviceTraits): readonly Variant[] {
  const size = subgroupSizeOf(traits);
  if (inner > 1 || size === undefined || length < 2 * size) return [];
  const by = (team: RowTeam): Variant => {
    const mates = team === 'group' ? SUBGROUP_ROWS_GROUP : size;
    const chunk = chunkOfTeam(mates, outer, length, traits);
    return { id: `reduce/rows-${team}`, kind: 'rows-subgroup', team, size, chunk };
  };
  const areFew = outer * SUBGROUP_ROWS_GROUP <= traits.computeUnits * LANES_PER_UNIT;
  const byGroup = length >= (areFew ? 256 : 2048);
  return byGroup ? [by('group'), by('subgroup')] : [by('subgroup'), by('group')];
}

function laneVariants({ outer, length, inner }: Extents, traits: DeviceTraits): readonly Variant[] {
  const busy = traits.computeUnits * LANES_PER_UNIT;
  const tile = Math.ceil(inner / Math.ceil(inner / WIDEST_TILE));
  const mates = Math.min(Math.floor(TEAM_GROUP / tile), Math.ceil(length / 4));
  const lane: Variant = {
    id: 'reduce/lane',
    kind: 'lane',
    chunk: chunkOfTeam(1, outer * inner, length, traits),
  };
  if (mates <= 1) return [lane];
  const chunk = chunkOfTeam(mates, outer * inner, length, traits);
  const team: Variant = { id: 'reduce/team', kind: 'team', tile, team: mates, chunk };
  const isNarrow = inner < NARROW.columns && length >= NARROW.length;
  return isNarrow || outer * inner < busy ? [team, lane] : [lane, team];
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
