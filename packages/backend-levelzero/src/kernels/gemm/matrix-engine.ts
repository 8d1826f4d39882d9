// What is known of the instructions of matrix engines (XMX).

/** Terms that one instruction of a matrix engine adds up, and the rows of C that it does so for. */
export const BLOCK_DEPTH = 16;
export const BLOCK_ROWS = 8;

/** Work-items of a sub-group that an instruction is of: columns of its part of C. */
export type EngineLanes = 8 | 16;

/** Every size of sub-groups that there are engines for: 8 on Xe-HPG, 16 on Xe-HPC and newer. */
export const MATRIX_LANES: readonly EngineLanes[] = [8, 16];

/**
 * The built-in that adds a product of halves, 8 x 16 times 16 x lanes, to 8 rows of float32 (cl_intel_subgroup_matrix_
 * multiply_accumulate): by the size of sub-groups, which comes with the type of the first operand.
 */
export const MULTIPLY_ACCUMULATE: Readonly<Record<EngineLanes, string>> = {
  8: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f',
  16: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f',
};

/** The minimal speed of an engine, as a multiple of other units'. */
export const ENGINE_SPEEDUP = 8;

/** Blocks of A, and of B, that a sub-group has at a time: 32 rows by four times its lanes. */
export const BLOCKS = 4;
/** Sub-groups of a group, along n and along m. */
export const SUBGROUPS_N = 2;
export const SUBGROUPS_M = 4;

/** Entries of C that a group computes. */
export const matrixTile = (lanes: EngineLanes): { readonly m: number; readonly n: number } => ({
  m: SUBGROUPS_M * BLOCKS * BLOCK_ROWS,
  n: SUBGROUPS_N * BLOCKS * lanes,
});

/** The layout of blocks of B for an engine. */
export const columnsOf = (lanes: EngineLanes): 'columns of 8' | 'columns of 16' => `columns of ${lanes}`;
