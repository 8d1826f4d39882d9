import { shapeOf } from '@concord/variants';
import type { DeviceTraits } from '../recorder.ts';
import { smallestLanes } from '../subgroups.ts';
import { type Matrix, multiplyAddsOf, type Product } from './product.ts';
import { ELEMENT_BYTES } from './storage.ts';
import { subgroup, SUBGROUPS, type SubgroupTile, subgroupTile } from './subgroup.spv.ts';
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

/** Every tile that there are kernels for, largest first. */
const TILES: readonly SubgroupTile[] = [
  { lanes: 16, rows: 16, vectors: 2 },
  { lanes: 8, rows: 8, vectors: 4 },
];

/** By id. */
export const SUBGROUP_TILES: ReadonlyMap<string, SubgroupTile> = new Map(TILES.map((tile) => [idOf(tile), tile]));

/**
 * Products with a sub-group for each tile: for GPUs. Without barriers, and with more multiply-adds for each instruction than
 * others.
 */
export const subgroupTable: ProductTable = {
  ids: [...SUBGROUP_TILES.keys()],
  kernelsFor: (traits) =>
    FORMATS.filter(({ input }) => input !== 'f16' || traits.hasF16).flatMap((formats) =>
      possibleTiles(traits).flatMap((tile) => BOTH.map((transA) => subgroup({ ...formats, ...tile, transA }))),
    ),
  candidates: (product, traits) => {
    if (product.m === 1 || product.n === 1) return undefined;
    const wanted = GROUPS_EACH * traits.computeUnits;
    // Halves with A transposed are rare enough not to have kernels for a part of k.
    const canSplit = product.a.dtype === 'f32' || !product.transA;
    const variants = bestFirst(fittingTiles(product, traits), subgroupTile, product, traits).map((tile) => {
      const groups = groupsOf(product, subgroupTile(tile));
      return { id: idOf(tile), splits: canSplit ? splitsFor(groups, product.k, wanted) : 1 };
    });
    const [preferred] = variants;
    return preferred && { variants, preferred, rank: 3 };
  },
  mostAtOnce: (product, variant, splits, traits) =>
    tilesAtOnce(product, subgroupTile(shapeOf(SUBGROUP_TILES, variant)), splits, traits),
  least: (variant) => {
    const tile = shapeOf(SUBGROUP_TILES, variant);
    return { m: tile.rows, n: subgroupTile(tile).n };
  },
  launch: ({ product, splits }, variant, recorder) => {
    const tile = shapeOf(SUBGROUP_TILES, variant);
    const { id } = variant;
    const { m, n, transA, a, b, batchCount } = product;
    const ofGroup = subgroupTile(tile);
    recorder.launch({
      kernel: subgroup({ ...formatsOf(product), ...tile, transA }),
      args: { ...operands(product, splits), m, n, a_ld: a.ld, b_ld: b.ld },
      groups: [Math.ceil(n / ofGroup.n), Math.ceil(m / ofGroup.m), batchCount * splits.count],
      multiplyAdds: multiplyAddsOf(product),
      variant: id,
    });
  },
};

function idOf({ lanes, rows, vectors }: SubgroupTile): string {
  return `gemm/subgroup-${rows}x${lanes * vectors}`;
}

/** The tiles that a device keeps in its registers, largest first. */
function possibleTiles(traits: DeviceTraits): readonly SubgroupTile[] {
  const { isCpuLike, subgroupSizes, maxGroupSize, hasLargeRegisterFile } = traits;
  if (isCpuLike) return [];
  return TILES.filter(({ lanes, rows }) => {
    // Before Xe-HPG, addresses of 64 bits take the registers that 16 rows of 16 work-items want.
    const isKept = rows === 8 || hasLargeRegisterFile || smallestLanes(traits) === 16;
    return isKept && subgroupSizes.includes(lanes) && lanes * SUBGROUPS <= maxGroupSize;
  });
}

/** Those of them that can compute a product: see `subgroup`. */
function fittingTiles(product: Product, traits: DeviceTraits): readonly SubgroupTile[] {
  const { m, n, k, transA, transB, a, b, batchCount } = product;
  if (transB) return [];
  const isF16 = a.dtype === 'f16';
  if (isF16 && !(traits.hasF16 && isByWords(a, transA ? m : 2) && isByWords(b, n))) return [];
  const [rowsOfA, columnsOfA] = transA ? [k, m] : [m, k];
  if (!isCounted(a, rowsOfA, columnsOfA, batchCount) || !isCounted(b, k, n, batchCount)) return [];
  return possibleTiles(traits).filter((tile) => n >= subgroupTile(tile).n && (!transA || m >= tile.rows));
}

/** Returns whether rows, and whatever even column of them, begin at multiples of four bytes. */
function isByWords({ span, ld, stride }: Matrix, columns: number): boolean {
  return span.byteOffset % 4 === 0 && [ld, stride, columns].every((elements) => elements % 2 === 0);
}

/** Returns whether 32 bits count its bytes: as offsets of pointers they have a sign. */
function isCounted({ dtype, ld, stride }: Matrix, rows: number, columns: number, batchCount: number): boolean {
  return ELEMENT_BYTES[dtype] * ((batchCount - 1) * stride + (rows - 1) * ld + columns) < 2 ** 31;
}
