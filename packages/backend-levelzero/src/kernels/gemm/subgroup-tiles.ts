import type { DeviceTraits } from '../recorder.ts';
import { smallestLanes } from '../subgroups.ts';
import type { Matrix, Product } from './product.ts';
import { ELEMENT_BYTES } from './storage.ts';
import { SUBGROUPS, type SubgroupTile, subgroupTile } from './subgroup.spv.ts';

/** Every tile that there are kernels for, largest first. */
export const SUBGROUP_TILES: readonly SubgroupTile[] = [
  { lanes: 16, rows: 16, vectors: 2 },
  { lanes: 8, rows: 8, vectors: 4 },
];

/** For ids: `16x32`. */
export function nameOfTile({ lanes, rows, vectors }: SubgroupTile): string {
  return `${rows}x${lanes * vectors}`;
}

/** The tiles that a device keeps in its registers, largest first. */
export function possibleSubgroupTiles(traits: DeviceTraits): readonly SubgroupTile[] {
  const { subgroupSizes, maxGroupSize, hasLargeRegisterFile } = traits;
  return SUBGROUP_TILES.filter(({ lanes, rows }) => {
    // Before Xe-HPG, addresses of 64 bits take the registers that 16 rows of 16 work-items want.
    const isKept = rows === 8 || hasLargeRegisterFile || smallestLanes(traits) === 16;
    return isKept && subgroupSizes.includes(lanes) && lanes * SUBGROUPS <= maxGroupSize;
  });
}

/** Those of them that can compute a product: see `subgroup`. */
export function fittingTiles(product: Product, traits: DeviceTraits): readonly SubgroupTile[] {
  const { m, n, k, transA, transB, a, b, batchCount } = product;
  if (transB) return [];
  const isF16 = a.dtype === 'f16';
  if (isF16 && !(traits.hasF16 && isByWords(a, transA ? m : 2) && isByWords(b, n))) return [];
  const [rowsOfA, columnsOfA] = transA ? [k, m] : [m, k];
  if (!isCounted(a, rowsOfA, columnsOfA, batchCount) || !isCounted(b, k, n, batchCount)) return [];
  return possibleSubgroupTiles(traits).filter((tile) => n >= subgroupTile(tile).n && (!transA || m >= tile.rows));
}

/** Returns whether rows, and whatever even column of them, begin at multiples of four bytes. */
function isByWords({ span, ld, stride }: Matrix, columns: number): boolean {
  return span.byteOffset % 4 === 0 && [ld, stride, columns].every((elements) => elements % 2 === 0);
}

/** Returns whether 32 bits count its bytes: as offsets of pointers they have a sign. */
function isCounted({ dtype, ld, stride }: Matrix, rows: number, columns: number, batchCount: number): boolean {
  return ELEMENT_BYTES[dtype] * ((batchCount - 1) * stride + (rows - 1) * ld + columns) < 2 ** 31;
}
