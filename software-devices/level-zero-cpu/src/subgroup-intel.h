/*
 * The functions of Intel's GPUs besides the group instructions: blocks of memory that a sub-group shares out, and the built-ins
 * of their matrix engines, which modules import by name.
 */
#ifndef SUBGROUP_INTEL_H
#define SUBGROUP_INTEL_H

#include "subgroup-operations.h"

/*
 * A built-in of cl_intel_subgroup_matrix_multiply_accumulate: A B + C for A of `rows` x 16 and B of 16 x `lanes`
 * halves, and C of floats. A work-item has a column of B, with two rows in each integer, a column of C, and one of A's
 * 16 columns or, where there are 8 work-items, two of them side by side in integers.
 */
typedef struct {
    const char *name;
    uint8_t lanes, rows;
} subgroup_import;

/* NULL for names of functions that are not emulated. */
const subgroup_import *subgroup_import_of(const char *name);

/*
 * Writes the function that takes the place of an import, under its id: instead of A it has a slot (subgroup-slots.h).
 * False with a line in the log where it is declared (`declaration`, its OpFunction) with other types than it has, or
 * for sub-groups of another size.
 */
bool subgroup_define_import(subgroup_functions *functions, const uint32_t *declaration, const subgroup_import *import);

/* OpSubgroupBlockReadINTEL: a type, and the id of a pointer. */
bool subgroup_block_read(subgroup_functions *functions, uint32_t result, const uint32_t *pointer, subgroup_call *call);

/* OpSubgroupBlockWriteINTEL: the ids of a pointer and of a value. */
bool subgroup_block_write(subgroup_functions *functions, const uint32_t *pointer_and_value, subgroup_call *call);

#endif
