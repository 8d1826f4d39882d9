/** Shape of a workgroup's tile. */
export interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Terms that are in workgroup memory at a time. */
  readonly step: number;
  /** Entries of C that one invocation computes, along m and along n: multiples of 4. */
  readonly laneM: number;
  readonly laneN: number;
  /** With 2 the next step is put in place while this one is used, and one barrier a step will do. */
  readonly buffers: 1 | 2;
  /**
   * With 2 each half of a step, a multiple of 4 terms, is multiplied by separate invocations, and their sums are combined at
   * the end: twice the invocations for a small C.
   */
  readonly slices: 1 | 2;
}

/**
 * The known facts about the shape. `full`: all sizes are multiples of the tile's, rows begin and end at multiples of four.
 * `wide`: only the latter. `any`: nothing.
 */
export type Fit = 'full' | 'wide' | 'any';

/** The number that k must be a multiple of for `full`. */
export function wholeIteration({ step, buffers }: Tile): number {
  return step * buffers;
}

/** Invocations of a workgroup. */
export function tileInvocations(tile: Tile): number {
  return lanesOf(tile) * tile.slices;
}

/** Invocations that share the tile's entries. */
export function lanesOf({ m, n, laneM, laneN }: Tile): number {
  return (m / laneM) * (n / laneN);
}

/** Bytes of workgroup memory. */
export function tileBytes(tile: Tile): number {
  const { m, n, step, buffers } = tile;
  return stripBytes(m, step, buffers) + stripBytes(n, step, buffers) + combineBytes(tile);
}

/** Rows of an invocation's sums that are combined at a time. */
export const COMBINE_ROWS = 4;

/** Bytes of workgroup memory in which the second slice gives its sums to the first. */
function combineBytes(tile: Tile): number {
  return tile.slices === 1 ? 0 : lanesOf(tile) * COMBINE_ROWS * tile.laneN * 4;
}

/** Bytes of workgroup memory for a strip. */
function stripBytes(size: number, step: number, buffers: number): number {
  return (size / 4 + PAD) * 16 * step * buffers;
}

/** Vectors that are left free after each term, so that the terms of a row lie in different banks. */
export const PAD = 1;
