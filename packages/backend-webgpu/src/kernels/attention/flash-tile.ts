import type { Form } from './form.wgsl.ts';

/** Shape of a workgroup's work. */
export interface FlashTile {
  /** Queries of a workgroup, 8 an invocation; a multiple of 32. */
  readonly queries: number;
  /** Keys of a tile. */
  readonly keys: number;
  /** Largest head dimension, a multiple of `keys`: the columns of O that a workgroup keeps. */
  readonly columns: number;
  /** Invocations that share a row, 8 or 16: each has `keys / across` of the keys and `columns / across` of the columns. */
  readonly across: number;
  /** Columns of Q and K that are in workgroup memory at a time. */
  readonly depth: number;
  /** Rows of V, and weights of a query, that are in workgroup memory at a time; a multiple of `across`. */
  readonly chunk: number;
  /** Iterations of the inner loops that are unrolled; divides `depth`, `chunk` and `across`. */
  readonly unroll: number;
  /** Reads to registers, before the arithmetic, what is needed next. */
  readonly ahead: boolean;
}

/**
 * The known facts about the rows. `full`: there are as many columns as the tile has, and rows begin at multiples of four.
 * `wide`: only that they begin and end at multiples of four. `any`: nothing.
 */
export type Fit = 'full' | 'wide' | 'any';

/** The parameters that distinguish the `flash` kernels. */
export interface FlashParams {
  readonly tile: FlashTile;
  readonly fit: Fit;
  readonly form: Form;
  /** Writes records for `combine` instead of rows of O. */
  readonly partial: boolean;
}

/** Parts of a vector. */
export const COMPONENTS = ['x', 'y', 'z', 'w'] as const;

/** Vectors that are left free after each row in workgroup memory, so that those of a column lie in different banks. */
export const PAD = 1;

/** Queries of an invocation. */
export const ROWS = 8;

/** Invocations in a workgroup. */
export const flashLanes = ({ queries, across }: FlashTile): number => (queries / ROWS) * across;

/** Bytes of workgroup memory. */
export function flashBytes(tile: FlashTile): number {
  const { rows, stage } = panelsOf(tile);
  return 16 * tile.unroll * (rows * (tile.queries / 4 + PAD) + stage * (tile.keys / 4 + PAD));
}

/** Lengths of the arrays in workgroup memory, in panels of `unroll` rows. */
export interface Panels {
  readonly rows: number;
  readonly stage: number;
}

/** The arrays that a tile takes. */
export function panelsOf({ keys, columns, across, depth, chunk, unroll }: FlashTile): Panels {
  return {
    rows: Math.max(depth, chunk, across) / unroll,
    stage: Math.max(depth, (columns / keys) * chunk) / unroll,
  };
}
