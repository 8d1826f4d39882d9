import type { DeviceTraits } from '../recorder.ts';
import type { RunSpec } from '../run/run-spec.ts';
import { direct, directWith, DIRECT_GROUP, type DirectTile } from './direct.wgsl.ts';
import { shapeOf } from '@concord/variants';
import type { ProductTable, Variant } from './family.ts';
import { launchTiles } from './launch-tiles.ts';
import { isVector, type Product } from './product.ts';
import { operandParams } from './product-kernel.ts';
import { tilesOn } from './tile-table.ts';

const SMALLEST_TILE: DirectTile = { rows: 4, columns: 4 };

/** Tiles of invocations, largest first: larger ones compute faster and compile slower. */
const TILES: ReadonlyMap<string, DirectTile> = new Map(
  [{ rows: 8, columns: 16 }, { rows: 8, columns: 8 }, SMALLEST_TILE].map((tile) => [idOf(tile), tile]),
);

/** Tiles of C that are worth the larger tile, and worth its compilation. */
const ENOUGH_TILES = 512;

/** Products without workgroup memory: for software devices, and for those that have no room for the tiles of others. */
export const directTable: ProductTable = {
  ids: [...TILES.keys()],
  kernelsFor: (traits) => {
    if (!isFor(traits)) return [];
    return operandParams(traits).flatMap((params) =>
      [...TILES.values()].flatMap((tile) => [false, true].map((wide) => direct({ ...params, ...tile, wide }))),
    );
  },
  candidates: ({ product }, traits) => {
    if (isVector(product) || !isFor(traits)) return undefined;
    return { variants: directTable.ids.map((id) => ({ id, splits: 1 })), preferred: best(product) };
  },
  // A compiler of a software device takes each store of a large tile apart: a kernel after it costs less.
  appliesEpilogues: ({ id }) => id === idOf(SMALLEST_TILE),
  launch: ({ product, splits }, variant, recorder) => {
    const { rows, columns } = shapeOf(TILES, variant);
    const { transA, transB, a, c } = product;
    const params = { input: a.dtype, output: c.dtype, transA, transB, rows, columns };
    const tile = { m: rows * DIRECT_GROUP, n: columns * DIRECT_GROUP };
    const kernel = (wide: boolean, epilogue: RunSpec | undefined) =>
      epilogue === undefined ? direct({ ...params, wide }) : directWith({ ...params, wide }, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};

function isFor(traits: DeviceTraits): boolean {
  return tilesOn(traits).length === 0;
}

function best({ m, n }: Product): Variant {
  const isWorthwhile = ({ rows, columns }: DirectTile): boolean =>
    Math.floor(m / rows) * Math.floor(n / columns) >= ENOUGH_TILES;
  return { id: idOf([...TILES.values()].find(isWorthwhile) ?? SMALLEST_TILE), splits: 1 };
}

function idOf({ rows, columns }: DirectTile): string {
  return `gemm/direct-${rows}x${columns}`;
}
