/*
 * Sub-groups, which PoCL does not have, and what else it lacks of groups: such instructions become calls of functions
 * that exchange values through workgroup memory, between barriers.
 *
 * A sub-group is a run of work-items that follow each other in the group; the last one may be smaller. As any operation
 * may be a barrier of the whole group, all items of the group have to reach it, not only those of the sub-group.
 *
 * Emulated are what spirv-builder writes. In scope Subgroup: OpGroupBroadcast, and the reduction of OpGroupIAdd, FAdd, FMin,
 * UMin, SMin, FMax, UMax and SMax; OpSubgroupShuffleINTEL; OpSubgroupBlockReadINTEL and BlockWriteINTEL of 16-bit and
 * 32-bit integers, which are no barriers; the imports in subgroup-intel.c; the built-in variables SubgroupSize,
 * NumSubgroups, SubgroupId, SubgroupLocalInvocationId. Others are refused by name. Execution mode SubgroupSize may ask for
 * one of `subgroup_sizes`.
 */
#ifndef SUBGROUPS_H
#define SUBGROUPS_H

#include "engine.h"
#include "spirv.h"

enum {
    SUBGROUP_MAX_GROUP = 1024,
    SUBGROUP_SEMANTICS = 0x310 /* SequentiallyConsistent, of WorkgroupMemory and CrossWorkgroupMemory */
};

/* Sizes that there are; the first is what a module has that asks for none. */
extern const uint32_t subgroup_sizes[ENGINE_SUBGROUP_SIZES];

/*
 * Rewrites the module where it uses any of these; `size` is what its sub-groups have. SPIRV_BAD with a line in the log
 * for what is not emulated.
 */
spirv_status subgroups_emulate(spirv_module *module, uint32_t *size, engine_log *log);

/* The functions that sub-group instructions are replaced by, each written into the module when it is first asked for.
 */

enum { SUBGROUP_MAX_FUNCTIONS = 256, SUBGROUP_MAX_TYPES = 32 };

/* The parts of a function; those that a template does not name stay zero. Texts are from subgroup-templates.h. */
typedef struct {
    const char *text;
    const char *operation;
    const char *bounds;
    uint32_t result; /* types */
    uint32_t value;
    uint32_t index;
    uint32_t parameters[3];
    unsigned parameter_count;
    uint32_t span; /* items that exchange values */
    uint32_t wide_x;   /* types of the factors of a matrix product, as floats */
    uint32_t wide_y;
    uint32_t widen_x;  /* functions that this one calls */
    uint32_t widen_y;
    uint32_t slots; /* variable, where values are in slots: see subgroup_slots below */
} subgroup_recipe;

/* Slots for values of a type: an array of workgroup memory, with one place for each work-item in each slot. */
typedef struct {
    uint32_t type, variable;
    uint32_t limit, used; /* slots */
    uint64_t read;        /* slots that items may still load from: a bit each, since the last barrier */
} subgroup_pool;

typedef struct {
    spirv_edit *edit;
    uint32_t size;     /* of a sub-group: a power of two, at most 32 */
    uint32_t local_id; /* variables of built-ins, of three 64-bit integers */
    uint32_t group_size;
    uint32_t items;  /* that a slot has room for */
    bool are_rows; /* sub-groups: the group is as wide as they are */
    uint32_t void_type, bool_type, uint_type, ulong_type, vector_type;
    struct {
        subgroup_recipe recipe;
        uint32_t id;
    } known[SUBGROUP_MAX_FUNCTIONS];
    unsigned known_count;
    subgroup_pool pools[SUBGROUP_MAX_TYPES];
    unsigned pool_count;
} subgroup_functions;

/* Declares what all functions use. */
void subgroup_functions_begin(subgroup_functions *functions);

/* The function of a recipe. */
uint32_t subgroup_function(subgroup_functions *functions, const subgroup_recipe *recipe);

/* Writes the function of a recipe under an id that the module has for it. */
void subgroup_define_function(subgroup_functions *functions, const subgroup_recipe *recipe, uint32_t id);

/* Declares an array of workgroup memory under an id. */
void subgroup_declare_array(subgroup_functions *functions, uint32_t id, uint32_t type, uint32_t length);

/* Writes a barrier of the group. */
void subgroup_barrier(subgroup_functions *functions, spirv_words *out);

/* A constant of type ulong. */
uint32_t subgroup_wide_constant(subgroup_functions *functions, uint32_t value);

/* Width of the numbers of a type, also inside of a vector; 0 for others. */
unsigned subgroup_bits(const subgroup_functions *functions, uint32_t type);

/* Components of a vector type, 1 for others. */
unsigned subgroup_components(const subgroup_functions *functions, uint32_t type);

/*
 * Values that the work-items of a sub-group take from each other, such as those that are broadcast or summed.
 *
 * Each is stored once, for all work-items, in a slot of workgroup memory before a barrier of the whole group. A work-item that
 * takes it, from whichever work-item and however often, then only loads. With the value that is taken first, all are
 * stored that are there by then and taken further on in the same block. Another barrier stands before a store where
 * items may still load from the slot. Another block, and a call of a function of the module's, which may use the same
 * slots, end what the slots hold.
 */

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

/* Which function stands for which instruction. */

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

/*
 * The functions of Intel's GPUs besides the group instructions: blocks of memory that a sub-group shares out, and the built-ins
 * of their matrix engines, which modules import by name.
 */

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
 * Writes the function that takes the place of an import, under its id: instead of A it has a slot.
 * False with a line in the log where it is declared (`declaration`, its OpFunction) with other types than it has, or
 * for sub-groups of another size.
 */
bool subgroup_define_import(subgroup_functions *functions, const uint32_t *declaration, const subgroup_import *import);

/* OpSubgroupBlockReadINTEL: a type, and the id of a pointer. */
bool subgroup_block_read(subgroup_functions *functions, uint32_t result, const uint32_t *pointer, subgroup_call *call);

/* OpSubgroupBlockWriteINTEL: the ids of a pointer and of a value. */
bool subgroup_block_write(subgroup_functions *functions, const uint32_t *pointer_and_value, subgroup_call *call);

#endif
