/**
 * The block loops around the tile kernel, for every product that is too large for one packed block.
 *
 * The result is computed in blocks of 192 x 256, each summed over all depth blocks in a float64 scratch and then
 * handed to `store` once, so that there is a single rounding whatever the depth. What the operands look like is the
 * packers' business: gemm packs strided matrices, conv2d packs image patches.
 */

import { BLOCK_COLUMNS, BLOCK_DEPTH, BLOCK_ROWS, multiplyPanels, roundUp, TILE_COLUMNS, TILE_ROWS } from './tile.ts';

/** An m x k by k x n product whose operands are packed on demand. */
export interface BlockedProduct {
  readonly m: number;
  readonly n: number;
  readonly k: number;
  /** Packs rows `row .. row + rows - 1` of A, depth `p .. p + depth - 1`. */
  packA(row: number, rows: number, p: number, depth: number): void;
  /** Packs columns `column .. column + columns - 1` of B, depth `p .. p + depth - 1`. */
  packB(column: number, columns: number, p: number, depth: number): void;
  /** Takes the finished block; element (r, c) is `block[r * stride + c]`. */
  store(row: number, rows: number, column: number, columns: number, block: Float64Array, stride: number): void;
}

const block = new Float64Array(BLOCK_ROWS * BLOCK_COLUMNS);

/** Computes all blocks of a product. */
export function multiplyBlocked(product: BlockedProduct): void {
  const { m, n, k } = product;
  for (let column = 0; column < n; column += BLOCK_COLUMNS) {
    const columns = Math.min(BLOCK_COLUMNS, n - column);
    const stride = roundUp(columns, TILE_COLUMNS);
    for (let row = 0; row < m; row += BLOCK_ROWS) {
      const rows = Math.min(BLOCK_ROWS, m - row);
      block.fill(0, 0, roundUp(rows, TILE_ROWS) * stride);
      for (let p = 0; p < k; p += BLOCK_DEPTH) {
        const depth = Math.min(BLOCK_DEPTH, k - p);
        // With a single depth block, B is still packed from the row block before.
        if (row === 0 || k > BLOCK_DEPTH) product.packB(column, columns, p, depth);
        product.packA(row, rows, p, depth);
        multiplyPanels(rows, columns, depth, block, stride);
      }
      product.store(row, rows, column, columns, block, stride);
    }
  }
}
