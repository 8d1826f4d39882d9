/** Rows of op(A) that lie beside each other in a packed panel: the rows of a register tile. */
export const PANEL_ROWS = 8;

/** Components of a vector. */
export const LANES = 16 as const;

/** Columns of op(B) that lie beside each other in a packed panel: the columns of a register tile, two vectors. */
export const PANEL_COLUMNS = 32;

/** Entries of a register tile. */
export const TILE: number = PANEL_ROWS * PANEL_COLUMNS;
