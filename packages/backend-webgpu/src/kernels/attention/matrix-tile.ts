/** Shape of a workgroup's work on the matrix units. */
export interface MatrixTile {
  /** Queries of a workgroup: one an invocation. */
  readonly queries: number;
  /** Keys that are in workgroup memory at a time: as many as one product takes. */
  readonly keys: 16;
  /** Largest head dimension, a multiple of 32. */
  readonly columns: number;
}

/** Invocations of a subgroup. */
export const SUBGROUP = 32;
/** Rows, columns and terms of the product that is one operation. */
export const UNIT = 16;

/**
 * Workgroup memory is made of blocks, as that of products is: 16 lines of four vectors and a free one, and four more, so that
 * neighbouring lines and blocks lie in different banks.
 */
export const LINE = 5;
export const BLOCK_VECTORS: number = UNIT * LINE + 4;
/** Blocks of a subgroup's own: the scores of its queries and 16 keys, or their weights, or 16 columns of their sums. */
export const OWN_BLOCKS: number = SUBGROUP / UNIT;

/** Blocks of the keys of a tile, and as many of their values. */
export const keyBlocks = ({ columns }: MatrixTile): number => columns / 32;

/** Blocks of workgroup memory: K, V, and those of the subgroups. */
export const blocksOf = (tile: MatrixTile): number => 2 * keyBlocks(tile) + (tile.queries / SUBGROUP) * OWN_BLOCKS;

/** Bytes of workgroup memory. */
export const matrixBytes = (tile: MatrixTile): number =>
  16 * BLOCK_VECTORS * blocksOf(tile) + 4 * (tile.queries / SUBGROUP);
