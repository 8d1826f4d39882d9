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
    uint32_t parameters[3];
    unsigned parameter_count;
    uint32_t span; /* items that exchange values */
    uint32_t wide_x;   /* types of the factors of a matrix product, as floats */
    uint32_t wide_y;
    uint32_t widen_x;  /* functions that this one calls */
    uint32_t widen_y;
    uint32_t slots; /* variable, where values are in slots: see subgroup-slots.h */
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

/* Constants of types uint and ulong. */
uint32_t subgroup_constant(subgroup_functions *functions, uint32_t value);
uint32_t subgroup_wide_constant(subgroup_functions *functions, uint32_t value);

/* Width of the numbers of a type, also inside of a vector; 0 for others. */
unsigned subgroup_bits(const subgroup_functions *functions, uint32_t type);

/* Components of a vector type, 1 for others. */
unsigned subgroup_components(const subgroup_functions *functions, uint32_t type);

#endif
