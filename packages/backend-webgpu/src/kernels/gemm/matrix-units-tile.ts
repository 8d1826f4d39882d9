/** Shape of a workgroup's tile. */
export interface MatrixUnitsTile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time: two strips. */
  readonly step: 32;
  /** Entries of C that one subgroup computes, along m and along n: multiples of {@link BLOCK}. */
  readonly subgroupM: number;
  readonly subgroupN: number;
}

/** The known facts about the shape. `full`: all sizes are multiples of the tile's. `edges`: not that. */
export type MatrixUnitsFit = 'full' | 'edges';

/** Invocations of a subgroup. */
export const SUBGROUP = 32;

/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;
/** Elements of a vector: 16 bytes of binary16. */
export const VECTOR = 8;

/**
 * Workgroup memory is made of blocks: {@link UNIT} lines of four vectors and a free one, so that the same vector of eight
 * neighbouring lines lies in different banks, and four more, so that neighbouring blocks do. A block has two matrices of binary16
 * side by side, or one of sums. As a separate array, of which matrices lie at constant places, it needs no check of bounds.
 */
export const BLOCK = 32;
export const LINE = 5;
export const BLOCK_VECTORS: number = UNIT * LINE + 4;

/** Blocks of a strip of A and one of B. */
export function stripBlocks({ m, n }: Pick<MatrixUnitsTile, 'm' | 'n'>): number {
  return (m + n) / BLOCK;
}

/** Invocations of a workgroup. */
export function matrixUnitsInvocations({ m, n, subgroupM, subgroupN }: MatrixUnitsTile): number {
  return (m / subgroupM) * (n / subgroupN) * SUBGROUP;
}

/** Blocks of workgroup memory: two strips, and at the end as many sums as a subgroup has along n. */
export function blocksOf(tile: MatrixUnitsTile): number {
  const subgroups = matrixUnitsInvocations(tile) / SUBGROUP;
  return Math.max(2 * stripBlocks(tile), (subgroups * tile.subgroupN) / UNIT);
}

/** Bytes of workgroup memory. */
export function matrixUnitsBytes(tile: MatrixUnitsTile): number {
  return 16 * BLOCK_VECTORS * blocksOf(tile);
}
