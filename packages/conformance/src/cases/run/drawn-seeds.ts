/** Numbers from which the listed random cases are drawn: those about whose outputs the oracle knows enough. */
export const DRAWN_SEEDS: readonly number[] = [];
