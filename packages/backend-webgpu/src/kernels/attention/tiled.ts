import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { type AttentionTable, ENOUGH_WORKGROUPS, formsOf, groupsOf, rowsOfFloats, withSplits } from './table.ts';
import { TILE_KEYS, tiled, tiledLanes, type TiledParams, tiledWorkgroupBytes } from './tiled.wgsl.ts';

type Tile = Pick<TiledParams, 'queries' | 'headDim'>;

/** Blocks of queries, smallest first, and columns of O that can be kept. */
export const TILED_QUERIES = [16, 32, 64] as const;
export const TILED_COLUMNS = [64, 128, 256] as const;

const TILE_OF: ReadonlyMap<string, Tile> = new Map(
  TILED_QUERIES.flatMap((queries) =>
    TILED_COLUMNS.map((headDim) => [tiledId({ queries, headDim }), { queries, headDim }] as const),
  ),
);

/** Attention by blocks of queries and tiles of keys, of any size: for GPUs. */
export const tiledTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    formsOf(rowsOfFloats).flatMap((way) =>
      queriesOn(traits).flatMap((queries) => TILED_COLUMNS.map((headDim) => tiled({ queries, headDim, ...way }))),
    ),
  candidates: (sizes, traits) => {
    const blocks = queriesOn(traits);
    const best = bestOf(blocks, sizes.heads, sizes.queries);
    if (best === undefined) return undefined;
    const headDim = TILED_COLUMNS.find((max) => max >= sizes.headDim) ?? 256;
    const variantOf = (queries: Tile['queries']) => withSplits(tiledId({ queries, headDim }), queries, sizes);
    return { variants: blocks.map(variantOf), preferred: variantOf(best) };
  },
  splitKeys: () => TILE_KEYS,
  writesRows: rowsOfFloats,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const kernel = tiled({ ...tile, form: work.sizes.form, partial: work.partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** Large blocks read K and V less often; small ones waste less and make more workgroups. */
function bestOf(smallestFirst: readonly number[], heads: number, queries: number): number | undefined {
  const isWorthwhile = (block: number): boolean => heads * Math.ceil(queries / block) >= ENOUGH_WORKGROUPS;
  const min = smallestFirst.findIndex((block) => block >= Math.min(queries, 32));
  return (
    smallestFirst
      .slice(min + 1)
      .filter(isWorthwhile)
      .at(-1) ?? smallestFirst.at(min)
  );
}

/** The blocks of queries that a device has invocations and memory for. */
function queriesOn({ isSoftware, maxInvocations, maxWorkgroupBytes }: DeviceTraits): readonly number[] {
  if (isSoftware) return [];
  return TILED_QUERIES.filter(
    (queries) =>
      tiledLanes({ queries }) <= maxInvocations &&
      TILED_COLUMNS.every((headDim) => tiledWorkgroupBytes({ queries, headDim }) <= maxWorkgroupBytes),
  );
}

/** Id of a tile. */
export function tiledId({ queries, headDim }: Tile): string {
  return `attention/tiled-${queries}x${headDim}`;
}
