import { shapeOf } from '@concord/variants';
import { isVector, type ProductTable } from './product.ts';
import { launchTiles, operandParams, type TileLaunch } from './product-kernel.ts';
import { costOf, type Fit, type Tile, TILES, tilesOn, wholeIteration } from './tile.ts';
import { tiled } from './tiled.wgsl.ts';

const FITS: readonly Fit[] = ['full', 'wide', 'any'];

const TILE_OF: ReadonlyMap<string, Tile> = new Map(TILES.map(({ id, tile }) => [id, tile]));

/** Products in tiles that pass through workgroup memory: for GPUs. */
export const tiledTable: ProductTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    operandParams(traits).flatMap((params) =>
      tilesOn(traits).flatMap(({ tile }) => FITS.map((fit) => tiled({ ...params, tile, fit }))),
    ),
  candidates: ({ product }, traits) => {
    if (isVector(product)) return undefined;
    const [first, ...others] = tilesOn(traits).map((rated) => ({ id: rated.id, ...costOf(rated, product) }));
    if (first === undefined) return undefined;
    const preferred = others.reduce((best, each) => (each.total < best.total ? each : best), first);
    return { variants: [first, ...others], preferred };
  },
  appliesEpilogues: () => true,
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { m, n, k, transA, transB, a, c } = product;
    const isFull = m % tile.m === 0 && n % tile.n === 0 && k % wholeIteration(tile) === 0;
    const params = { input: a.dtype, output: c.dtype, transA, transB, tile };
    const fitOf = (isWide: boolean): Fit => (isWide ? (isFull ? 'full' : 'wide') : 'any');
    const kernel: TileLaunch['kernel'] = (isWide, epilogue) => tiled({ ...params, fit: fitOf(isWide) }, epilogue);
    launchTiles(product, { id: variant.id, tile, kernel }, splits, recorder);
  },
};
