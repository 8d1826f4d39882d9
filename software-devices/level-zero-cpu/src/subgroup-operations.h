/* Which function stands for which instruction. */
#ifndef SUBGROUP_OPERATIONS_H
#define SUBGROUP_OPERATIONS_H

#include "subgroup-functions.h"

/* A call: the function, and its arguments from the instruction's operands. */
typedef struct {
    uint32_t result; /* type */
    uint32_t function;
    uint32_t arguments[3];
    unsigned argument_count;
} subgroup_call;

/* True if an opcode is one of the group instructions, emulated or not. */
bool subgroup_is_group_opcode(uint16_t opcode);

/* False where the instruction is not emulated, or not for its operands. `slot` has the value that it takes, if any. */
bool subgroup_call_for(subgroup_functions *functions, const uint32_t *instruction, uint32_t slot, subgroup_call *call);

/* Function without parameters, of type uint, for a built-in variable of sub-groups. */
uint32_t subgroup_builtin(subgroup_functions *functions, uint32_t builtin);

#endif
