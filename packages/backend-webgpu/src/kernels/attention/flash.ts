import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { fitOf, flashBytes, flashLanes, type FlashTile } from './flash-parts.ts';
import { flash } from './flash.wgsl.ts';
import { type AttentionTable, formsOf, groupsOf, rowsByFours, withSplits } from './table.ts';

/** Tiles: those with the largest number of queries in a workgroup first. */
export const FLASH_TILES: readonly FlashTile[] = [
  { queries: 64, keys: 64, columns: 64, across: 8, depth: 16, chunk: 16, unroll: 8, ahead: false },
  { queries: 64, keys: 128, columns: 128, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
  { queries: 32, keys: 64, columns: 64, across: 16, depth: 16, chunk: 16, unroll: 4, ahead: true },
];

const TILE_OF: ReadonlyMap<string, FlashTile> = new Map(FLASH_TILES.map((tile) => [flashId(tile), tile]));

/** Queries for which most of a block would be wasted. */
const FEW_QUERIES = 16;
/** Workgroups of a tile with few invocations for its size that keep a GPU busy: they are not alone on a multiprocessor. */
const ENOUGH_LARGE_TILES = 512;

/** Attention as matrix products are made, of outer products in registers: for GPUs. */
export const flashTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    tilesOn(traits).flatMap((tile) =>
      (['full', 'wide', 'any'] as const).flatMap((fit) =>
        formsOf((form) => rowsByFours(form, fit !== 'any')).map((way) => flash({ tile, fit, ...way })),
      ),
    ),
  candidates: (sizes, traits) => {
    const { heads, queries, headDim } = sizes;
    const fitting = tilesOn(traits).filter(({ columns }) => columns >= headDim);
    // The fewest columns that will do.
    const columns = Math.min(...fitting.map((tile) => tile.columns));
    const tiles = fitting.filter((tile) => tile.columns === columns);
    const best = tiles.find((tile) => heads * Math.ceil(queries / tile.queries) >= ENOUGH_LARGE_TILES) ?? tiles.at(-1);
    if (best === undefined) return undefined;
    const variants = tiles.map((tile) => withSplits(flashId(tile), tile.queries, sizes));
    const preferred = withSplits(flashId(best), best.queries, sizes);
    return { variants, preferred, rank: queries > FEW_QUERIES ? 1 : -1 };
  },
  splitKeys: (variant) => shapeOf(TILE_OF, variant).keys,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { sizes, partial } = work;
    const kernel = flash({ tile, fit: fitOf(work, tile.columns), form: sizes.form, partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** The tiles that a device has invocations and memory for. */
function tilesOn({ isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly FlashTile[] {
  if (isSoftware) return [];
  return FLASH_TILES.filter((tile) => flashLanes(tile) <= maxInvocations && flashBytes(tile) <= maxWorkgroupBytes);
}

/** Id of a tile. */
export function flashId({ queries, keys, columns }: FlashTile): string {
  return `attention/flash-${queries}x${keys}x${columns}`;
}
