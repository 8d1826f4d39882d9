/** Shape of the tile of C that a group computes, and of what one of its work-items does. */
export interface Tile {
  /** Entries of C along m and along n. */
  readonly m: number;
  readonly n: number;
  /** Entries of C that one work-item computes, along m and along n: multiples of 4. */
  readonly laneM: number;
  readonly laneN: number;
}

/** Terms that are in workgroup memory at a time. */
export const TILE_STEP = 16;

/**
 * Elements that rows of a tile in workgroup memory are longer than the tile: transposing writes hit different banks.
 */
export const TILE_PADDING = 4;

/** Work-items of a group along n and along m. */
export function tileGroup({ m, n, laneM, laneN }: Tile): readonly [number, number, number] {
  return [n / laneN, m / laneM, 1];
}

/** Bytes of workgroup memory. */
export function tileBytes({ m, n }: Tile): number {
  return 4 * TILE_STEP * (m + n + 2 * TILE_PADDING);
}
