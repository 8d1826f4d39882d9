import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { lanesToAskFor } from '../subgroups.ts';
import { local } from './local.spv.ts';
import { multiplyAddsOf } from './product.ts';
import {
  bestFirst,
  BOTH,
  FORMATS,
  formatsOf,
  GROUPS_EACH,
  groupsOf,
  operands,
  type ProductTable,
  splitsFor,
  tilesAtOnce,
} from './table.ts';
import { type Tile, tileBytes, tileGroup } from './tile.ts';

/** Tiles for GPUs, largest first. */
export const TILES: readonly Tile[] = [
  { m: 128, n: 64, laneM: 8, laneN: 4 },
  { m: 64, n: 64, laneM: 4, laneN: 4 },
  { m: 32, n: 32, laneM: 4, laneN: 4 },
];

const TILE_OF: ReadonlyMap<string, Tile> = new Map(TILES.map((tile) => [idOf(tile), tile]));

/** Products with a group for each tile, which passes through workgroup memory: for GPUs. */
export const localTable: ProductTable = {
  ids: [...TILE_OF.keys()],
  kernelsFor: (traits) =>
    FORMATS.flatMap((formats) =>
      tilesOn(traits).flatMap((tile) =>
        BOTH.flatMap((transA) =>
          BOTH.map((transB) => local({ ...formats, transA, transB, tile, lanes: lanesToAskFor(traits) })),
        ),
      ),
    ),
  candidates: (product, traits) => {
    if (product.m === 1 || product.n === 1) return undefined;
    const possible = tilesOn(traits);
    // Not even the smallest tile makes groups enough where k is split.
    const splitsOf = (tile: Tile): number =>
      tile === possible.at(-1) ? splitsFor(groupsOf(product, tile), product.k, GROUPS_EACH * traits.computeUnits) : 1;
    const variants = bestFirst(possible, (tile) => tile, product, traits).map((tile) => {
      return { id: idOf(tile), splits: splitsOf(tile) };
    });
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 2 };
  },
  mostAtOnce: (product, variant, splits, traits) => tilesAtOnce(product, shapeOf(TILE_OF, variant), splits, traits),
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(TILE_OF, variant);
    const { id } = variant;
    const { m, n, transA, transB, a, b, batchCount } = product;
    recorder.launch({
      kernel: local({ ...formatsOf(product), transA, transB, tile, lanes: lanesToAskFor(recorder.traits) }),
      args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
      groups: [Math.ceil(n / tile.n), Math.ceil(m / tile.m), batchCount * splits.count],
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};

/** The tiles that a device has room for. */
function tilesOn({ isCpuLike, maxGroupSize, maxLocalBytes }: DeviceTraits): readonly Tile[] {
  if (isCpuLike) return [];
  return TILES.filter((tile) => {
    const [x, y] = tileGroup(tile);
    return x * y <= maxGroupSize && tileBytes(tile) <= maxLocalBytes;
  });
}

function idOf({ m, n }: Tile): string {
  return `gemm/local-${m}x${n}`;
}
