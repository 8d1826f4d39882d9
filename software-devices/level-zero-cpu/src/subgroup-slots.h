/*
 * Values that the work-items of a sub-group take from each other, such as those that are broadcast or summed.
 *
 * Each is stored once, for all work-items, in a slot of workgroup memory before a barrier of the whole group. A work-item that
 * takes it, from whichever work-item and however often, then only loads. With the value that is taken first, all are
 * stored that are there by then and taken further on in the same block. Another barrier stands before a store where
 * items may still load from the slot. Another block, and a call of a function of the module's, which may use the same
 * slots, end what the slots hold.
 */
#ifndef SUBGROUP_SLOTS_H
#define SUBGROUP_SLOTS_H

#include "subgroup-functions.h"

/* Slots of a type, and what they may take in bytes; one there always is. */
enum { SUBGROUP_MAX_SLOTS = 64, SUBGROUP_SLOT_BYTES = 64 << 10 };

typedef struct {
    subgroup_functions *functions;
    spirv_words *out; /* where stores are written */
    struct {
        uint32_t value;
        subgroup_pool *pool;
        uint32_t slot; /* in its pool */
    } held[SUBGROUP_MAX_TYPES * SUBGROUP_MAX_SLOTS];
    unsigned held_count;
} subgroup_slots;

/* Finds out what the groups are like that the module's kernels are for. */
void subgroup_measure_groups(subgroup_functions *functions, const spirv_module *module);

/* The slots for values of a type; NULL with a line in the log where there are too many types. */
subgroup_pool *subgroup_pool_of(subgroup_functions *functions, uint32_t type);

/* The value that work-items take from each other by an instruction, 0 where it is none of these. */
uint32_t subgroup_taken_value(const subgroup_functions *functions, const uint32_t *instruction);

/* To be called with every instruction of the module's functions, in their order. */
void subgroup_slots_pass(subgroup_slots *slots, const uint32_t *instruction);

/* Has the value that an instruction takes in a slot; the constant that is the slot's place in the variable. */
uint32_t subgroup_slot_for(subgroup_slots *slots, const uint32_t *instruction);

/* Declares the variables, now that it is known how many slots they have. */
void subgroup_slots_end(subgroup_functions *functions);

#endif
