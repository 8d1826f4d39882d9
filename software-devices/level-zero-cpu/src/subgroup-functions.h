/* The functions that sub-group instructions are replaced by, each written into the module when it is first asked for.
 */
#ifndef SUBGROUP_FUNCTIONS_H
#define SUBGROUP_FUNCTIONS_H

#include "spirv-edit.h"

enum { SUBGROUP_MAX_FUNCTIONS = 256, SUBGROUP_MAX_TYPES = 32 };

/* The parts of a function; those that a template does not name stay zero. Texts are from subgroup-templates.h. */
typedef struct {
    const char *text;
    const char *operation;
    const char *bounds;
    uint32_t result; /* types */
    uint32_t value;
    uint32_t index;
    uint32_t parameters[4];
    unsigned parameter_count;
    uint32_t span; /* items that exchange values */
    uint32_t wide_x;   /* types of the factors of a matrix product, as floats */
    uint32_t wide_y;
    uint32_t widen_x;  /* functions that this one calls */
    uint32_t widen_y;
    uint32_t memory; /* type of the parameter for what work-items exchange values through */
} subgroup_recipe;

typedef struct {
    spirv_edit *edit;
    uint32_t size;     /* of a sub-group: a power of two, at most 32 */
    uint32_t local_id; /* variables of built-ins, of three 64-bit integers */
    uint32_t group_size;
    uint32_t items;  /* of the largest group */
    bool are_rows; /* sub-groups: the group is as wide as they are */
    uint32_t void_type, bool_type, uint_type, ulong_type, vector_type;
    struct {
        subgroup_recipe recipe;
        uint32_t id;
    } known[SUBGROUP_MAX_FUNCTIONS];
    unsigned known_count;
    struct {
        uint32_t type, pointer, variable;
    } memories[SUBGROUP_MAX_TYPES];
    unsigned memory_count;
} subgroup_functions;

/* Finds out what the groups are like that the module's kernels are for, and declares what all functions use. */
void subgroup_functions_begin(subgroup_functions *functions);

/* The function of a recipe. */
uint32_t subgroup_function(subgroup_functions *functions, const subgroup_recipe *recipe);

/* Writes the function of a recipe under an id that the module has for it. */
void subgroup_define_function(subgroup_functions *functions, const subgroup_recipe *recipe, uint32_t id);

/*
 * Workgroup memory with a value of a type for each work-item of a group: the variable, and the type of `pointer` to it. It is
 * an argument, as PoCL gives a group its own only of what the kernel itself mentions. 0 with a line in the log where there are
 * too many types.
 */
uint32_t subgroup_memory_of(subgroup_functions *functions, uint32_t type, uint32_t *pointer);

/* Width of the numbers of a type, also inside of a vector; 0 for others. */
unsigned subgroup_bits(const subgroup_functions *functions, uint32_t type);

/* Components of a vector type, 1 for others. */
unsigned subgroup_components(const subgroup_functions *functions, uint32_t type);

#endif
