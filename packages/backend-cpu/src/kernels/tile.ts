/**
 * The inner product of all kernels: `out += A * B` for a block of A (up to 192 rows) and a block of B (up to 256
 * columns), at most 256 deep, in float64.
 *
 * A tile of 3 rows x 2 columns is kept in six local variables while the loop runs along the depth. Both blocks are
 * packed first: row r of A lies contiguously in plane `r % 3`, column c of B in plane `c % 2`, the panels of one plane
 * one after another. The five values of a step are then read from five arrays at only two indices, and because the
 * planes are constants of this module, the optimizing compiler knows their addresses and lengths: two bounds checks
 * per step are left of five, and no type conversion. Six sums and six products just fit the registers that V8 uses; a
 * larger tile spills its sums to the stack on every step and is half as fast (bench/NOTES.md has the table).
 */

/** Rows of A per tile, and planes of A. */
export const TILE_ROWS = 3;
/** Columns of B per tile, and planes of B. */
export const TILE_COLUMNS = 2;
/** The maximum number of rows of a packed block of A; a multiple of {@link TILE_ROWS}. */
export const BLOCK_ROWS = 192;
/** The maximum number of columns of a packed block of B; a multiple of {@link TILE_COLUMNS}. */
export const BLOCK_COLUMNS = 256;
/** Greatest depth of a packed block. */
export const BLOCK_DEPTH = 256;

/** Elements of one plane of A. */
export const PLANE_A_LENGTH: number = (BLOCK_ROWS / TILE_ROWS) * BLOCK_DEPTH;
/** Elements of one plane of B. */
export const PLANE_B_LENGTH: number = (BLOCK_COLUMNS / TILE_COLUMNS) * BLOCK_DEPTH;

const a0Plane = new Float64Array(PLANE_A_LENGTH);
const a1Plane = new Float64Array(PLANE_A_LENGTH);
const a2Plane = new Float64Array(PLANE_A_LENGTH);
const b0Plane = new Float64Array(PLANE_B_LENGTH);
const b1Plane = new Float64Array(PLANE_B_LENGTH);

/** Where packers write A: row r at `planesA[r % 3][offset + floor(r / 3) * depth]`. */
export const planesA: readonly Float64Array[] = [a0Plane, a1Plane, a2Plane];
/** Where packers write B: column c at `planesB[c % 2][floor(c / 2) * depth]`. */
export const planesB: readonly Float64Array[] = [b0Plane, b1Plane];

/** `size` rounded up to whole tiles. */
export function roundUp(size: number, tile: number): number {
  return Math.ceil(size / tile) * tile;
}

/**
 * `out[start + r * stride + c] += sum over p of A[r, p] * B[p, c]` for the packed blocks.
 *
 * Works in whole tiles: `out` must have room for `rows` rounded up to 3 and `columns` rounded up to 2, and what is
 * added outside of `rows` x `columns` means nothing.
 *
 * @param offsetA where the panels of A begin in their planes
 */
export function multiplyPanels(
  rows: number,
  columns: number,
  depth: number,
  out: Float64Array,
  stride: number,
  start = 0,
  offsetA = 0,
): void {
  // The tile's panel of B stays in the first-level cache while the whole block of A, in the second level, passes by.
  for (let column = 0, panelB = 0; column < columns; column += TILE_COLUMNS, panelB += depth) {
    for (let row = 0, panelA = offsetA; row < rows; row += TILE_ROWS, panelA += depth) {
      multiplyTile(panelA, panelB, depth, out, start + row * stride + column, stride);
    }
  }
}

function multiplyTile(
  panelA: number,
  panelB: number,
  depth: number,
  out: Float64Array,
  first: number,
  stride: number,
): void {
  let c00 = 0;
  let c01 = 0;
  let c10 = 0;
  let c11 = 0;
  let c20 = 0;
  let c21 = 0;
  const end = (panelA + depth) | 0;
  // `| 0` spares the overflow checks on both indices.
  for (let p = panelA | 0, q = panelB | 0; p < end; p = (p + 1) | 0, q = (q + 1) | 0) {
    const b0 = b0Plane[q] as number;
    const b1 = b1Plane[q] as number;
    const a0 = a0Plane[p] as number;
    const a1 = a1Plane[p] as number;
    const a2 = a2Plane[p] as number;
    c00 += a0 * b0;
    c01 += a0 * b1;
    c10 += a1 * b0;
    c11 += a1 * b1;
    c20 += a2 * b0;
    c21 += a2 * b1;
  }
  addPair(out, first, c00, c01);
  addPair(out, first + stride, c10, c11);
  addPair(out, first + 2 * stride, c20, c21);
}

function addPair(out: Float64Array, index: number, x: number, y: number): void {
  out[index] = (out[index] as number) + x;
  out[index + 1] = (out[index + 1] as number) + y;
}
