import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { fitOf } from './flash-parts.ts';
import { matrix, matrixBytes, type MatrixTile, SUBGROUP, UNIT } from './matrix.wgsl.ts';
import { type AttentionTable, columnsOf, groupsOf, rowsByFours, withSplits } from './table.ts';

const TILE_OF: ReadonlyMap<string, MatrixTile> = new Map(
  [
    { queries: 64, keys: 16 as const, columns: 64 },
    { queries: 128, keys: 16 as const, columns: 128 },
  ].map((tile) => [idOf(tile), tile]),
);

/** Attention in f16 on matrix units, of rows that begin and end at multiples of eight. */
export const matrixTable: AttentionTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) => {
    const both = [false, true];
    return tilesOn(traits).flatMap((tile) =>
      (['full', 'wide'] as const).flatMap((fit) =>
        both.flatMap((finishes) => both.map((partial) => matrix({ tile, fit, finishes, partial }))),
      ),
    );
  },
  candidates: (sizes, traits) => {
    const { form, byEights = false } = sizes;
    const fitting = tilesOn(traits).filter(({ columns }) => columns >= columnsOf(sizes));
    const tiles = form === 'f16' && byEights ? fitting : [];
    const variants = tiles.map((tile) => withSplits(idOf(tile), tile.queries, sizes));
    const [preferred] = variants;
    if (preferred === undefined) return undefined;
    return { variants, preferred, rank: sizes.queries > SUBGROUP ? 2 : -1, condition: 'by eights' };
  },
  splitKeys: (variant) => shapeOf(TILE_OF, variant).keys,
  writesRows: rowsByFours,
  launch: (work, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const fit = fitOf(work, tile.columns) === 'full' ? 'full' : 'wide';
    const { capped, masked } = work.launch.uniforms;
    const finishes = capped !== 0 || masked !== 0;
    const kernel = matrix({ tile, fit, finishes, partial: work.partial });
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
