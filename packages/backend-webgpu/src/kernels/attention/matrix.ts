import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { matrix, matrixBytes, type MatrixTile, SUBGROUP, UNIT } from './matrix.wgsl.ts';
import { type AttentionTable, groupsOf, rowsByFours, withSplits } from './table.ts';

const TILE_OF: ReadonlyMap<string, MatrixTile> = new Map(
  [{ queries: 64, keys: 16 as const, columns: 64 }].map((tile) => [idOf(tile), tile]),
);

/** Attention in f16 on matrix units, of rows that begin and end at multiples of eight. */
export const matrixTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    tilesOn(traits).flatMap((tile) =>
      (['full', 'wide'] as const).flatMap((fit) => [false, true].map((partial) => matrix({ tile, fit, partial }))),
    ),
  candidates: (sizes, traits) => {
    const { headDim, form, byEights = false } = sizes;
    const tiles = form === 'f16' && byEights ? tilesOn(traits).filter(({ columns }) => columns >= headDim) : [];
    const variants = tiles.map((tile) => withSplits(idOf(tile), tile.queries, sizes));
    const [preferred] = variants;
    if (preferred === undefined) return undefined;
    return { variants, preferred, rank: sizes.queries > SUBGROUP ? 2 : -1, condition: 'by eights' };
  },
  splitKeys: (variant) => shapeOf(TILE_OF, variant).keys,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const fit = tile.columns === work.sizes.headDim ? 'full' : 'wide';
    const kernel = matrix({ tile, fit, partial: work.partial });
    recorder.launch({ ...work.launch, kernel, groups: groupsOf(work, tile.queries), variant: variant.id });
  },
};

/** The tiles that a device has matrix units and room for. */
function tilesOn({ matrixUnits, subgroupSize, maxInvocations, maxWorkgroupBytes }: DeviceTraits): MatrixTile[] {
  const fits = matrixUnits.some(({ m, n, k }) => m === UNIT && n === UNIT && k === UNIT) && subgroupSize === SUBGROUP;
  return [...(fits ? TILE_OF.values() : [])].filter(
    (tile) => tile.queries <= maxInvocations && matrixBytes(tile) <= maxWorkgroupBytes,
  );
}

function idOf({ queries, keys, columns }: MatrixTile): string {
  return `attention/matrix-${queries}x${keys}x${columns}`;
}
