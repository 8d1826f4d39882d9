/** Terms that one instruction of a matrix engine adds up, and the rows of C that it does so for. */
export const BLOCK_DEPTH = 16;
export const BLOCK_ROWS = 8;

/** Work-items of a sub-group that an instruction is of: columns of its part of C. */
export type EngineLanes = 8 | 16;

/**
 * The built-in that adds a product of halves, 8 x 16 times 16 x lanes, to 8 rows of float32 (cl_intel_subgroup_matrix_
 * multiply_accumulate): by the size of sub-groups, which comes with the type of the first operand.
 */
export const MULTIPLY_ACCUMULATE: Readonly<Record<EngineLanes, string>> = {
  8: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_iS_Dv8_f',
  16: '_Z38intel_sub_group_f16_f16_matrix_mad_k16Dv8_sDv8_iDv8_f',
};
