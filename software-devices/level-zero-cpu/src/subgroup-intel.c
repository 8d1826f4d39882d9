#include "subgroups.h"

#include "subgroup-intel-templates.h"

#include <string.h>

enum { DEPTH = 16 }; /* columns of A and rows of B */

#define MATRIX_MAD(types) "_Z38intel_sub_group_f16_f16_matrix_mad_k16" types

static const subgroup_import imports[] = {
    {MATRIX_MAD("iDv8_if"), 8, 1},          {MATRIX_MAD("sDv8_if"), 16, 1},
    {MATRIX_MAD("Dv2_iDv8_iDv2_f"), 8, 2},  {MATRIX_MAD("Dv2_sDv8_iDv2_f"), 16, 2},
    {MATRIX_MAD("Dv4_iDv8_iDv4_f"), 8, 4},  {MATRIX_MAD("Dv4_sDv8_iDv4_f"), 16, 4},
    {MATRIX_MAD("Dv8_iS_Dv8_f"), 8, 8},     {MATRIX_MAD("Dv8_sDv8_iDv8_f"), 16, 8},
};

const subgroup_import *subgroup_import_of(const char *name)
{
    for (size_t at = 0; at < sizeof imports / sizeof *imports; at++)
        if (strcmp(imports[at].name, name) == 0) return &imports[at];
    return NULL;
}

/* For counts of components that are powers of two. */
static const char *of_count(unsigned count, const char *one, const char *two, const char *four, const char *eight)
{
    switch (count) {
    case 1: return one;
    case 2: return two;
    case 4: return four;
    case 8: return eight;
    default: return NULL;
    }
}

static const uint32_t *definition_of(const subgroup_functions *functions, uint32_t id)
{
    return spirv_definition(functions->edit->module, id);
}

static bool is_numbers(const subgroup_functions *functions, uint32_t type, SpvOp kind, unsigned bits, unsigned count)
{
    if (subgroup_components(functions, type) != count || subgroup_bits(functions, type) != bits) return false;
    const uint32_t *definition = definition_of(functions, type);
    if (count > 1) definition = definition_of(functions, definition[2]);
    return spirv_opcode(definition) == kind;
}

static bool has_types(const subgroup_functions *functions, const uint32_t *type, const subgroup_import *import)
{
    if (spirv_length(type) != 6 || type[2] != type[5]) return false;
    return is_numbers(functions, type[3], SpvOpTypeInt, import->lanes == DEPTH ? 16 : 32, import->rows) &&
           is_numbers(functions, type[4], SpvOpTypeInt, 32, DEPTH / 2) &&
           is_numbers(functions, type[5], SpvOpTypeFloat, 32, import->rows);
}

static uint32_t declare_numbers(subgroup_functions *functions, unsigned bits, unsigned count)
{
    uint32_t component = spirv_declare_type(functions->edit, SpvOpTypeFloat, 1, (uint32_t[]){bits});
    if (count == 1) return component;
    return spirv_declare_type(functions->edit, SpvOpTypeVector, 2, (uint32_t[]){component, count});
}

/* From integers that hold that many halves. */
static uint32_t widening(subgroup_functions *functions, uint32_t type, unsigned count)
{
    return subgroup_function(functions, &(subgroup_recipe){.text = WIDEN_TEXT,
                                                           .result = declare_numbers(functions, 32, count),
                                                           .value = type,
                                                           .index = declare_numbers(functions, 16, count),
                                                           .parameters = {type},
                                                           .parameter_count = 1});
}

bool subgroup_define_import(subgroup_functions *functions, const uint32_t *declaration, const subgroup_import *import)
{
    const uint32_t *type = definition_of(functions, declaration[4]);
    const bool in_pairs = import->lanes != DEPTH;
    const unsigned halves = in_pairs ? 2u * import->rows : import->rows;
    if (functions->size != import->lanes) {
        engine_say(functions->edit->log, "the import %s is for sub-groups of %u, and these are of %u", import->name,
                   import->lanes, functions->size);
        return false;
    }
    if (!has_types(functions, type, import)) {
        engine_say(functions->edit->log, "the import %s is declared with other types than it has", import->name);
        return false;
    }
    const subgroup_pool *pool = subgroup_pool_of(functions, type[3]);
    if (!pool) return false;
    subgroup_recipe recipe = {.text = MATRIX_TEXT,
                              .operation = in_pairs ? ADD_TWO_COLUMNS : ADD_COLUMN,
                              .bounds = of_count(import->rows, APART_1, APART_2, APART_4, APART_8),
                              .result = type[2],
                              .value = type[3],
                              .index = type[4],
                              .parameters = {functions->ulong_type, type[4], type[5]},
                              .parameter_count = 3,
                              .span = import->lanes,
                              .wide_x = declare_numbers(functions, 32, halves),
                              .wide_y = declare_numbers(functions, 32, DEPTH),
                              .widen_x = widening(functions, type[3], halves),
                              .widen_y = widening(functions, type[4], DEPTH),
                              .slots = pool->variable};
    subgroup_define_function(functions, &recipe, declaration[2]);
    return true;
}

static uint32_t type_of(const subgroup_functions *functions, uint32_t id)
{
    const uint32_t *definition = definition_of(functions, id);
    return definition ? definition[1] : 0;
}

/* True if a pointer leads to numbers in global memory of which such a share is made. */
static bool is_block(const subgroup_functions *functions, uint32_t pointer_type, uint32_t share)
{
    const uint32_t *pointer = definition_of(functions, pointer_type), *type = definition_of(functions, share);
    const unsigned bits = subgroup_bits(functions, share), count = subgroup_components(functions, share);
    if (!pointer || spirv_opcode(pointer) != SpvOpTypePointer || pointer[2] != SpvStorageClassCrossWorkgroup)
        return false;
    if ((bits != 16 && bits != 32) || !is_numbers(functions, share, SpvOpTypeInt, bits, count)) return false;
    return pointer[3] == (count > 1 ? type[2] : share);
}

static bool call_block(subgroup_functions *functions, const subgroup_recipe *recipe, const uint32_t *arguments,
                       subgroup_call *call)
{
    if (!recipe->text || !is_block(functions, recipe->index, recipe->value)) return false;
    call->function = subgroup_function(functions, recipe);
    call->argument_count = recipe->parameter_count;
    memcpy(call->arguments, arguments, recipe->parameter_count * sizeof *arguments);
    return call->function != 0;
}

bool subgroup_block_read(subgroup_functions *functions, uint32_t result, const uint32_t *pointer, subgroup_call *call)
{
    const uint32_t type = type_of(functions, pointer[0]);
    const unsigned count = subgroup_components(functions, result);
    return call_block(functions,
                      &(subgroup_recipe){.text = of_count(count, READ_1_TEXT, READ_2_TEXT, READ_4_TEXT, READ_8_TEXT),
                                         .result = result,
                                         .value = result,
                                         .index = type,
                                         .parameters = {type},
                                         .parameter_count = 1,
                                         .span = functions->size},
                      pointer, call);
}

bool subgroup_block_write(subgroup_functions *functions, const uint32_t *pointer_and_value, subgroup_call *call)
{
    const uint32_t type = type_of(functions, pointer_and_value[0]), value = type_of(functions, pointer_and_value[1]);
    const unsigned count = subgroup_components(functions, value);
    return call_block(
        functions,
        &(subgroup_recipe){.text = of_count(count, WRITE_1_TEXT, WRITE_2_TEXT, WRITE_4_TEXT, WRITE_8_TEXT),
                           .result = functions->void_type,
                           .value = value,
                           .index = type,
                           .parameters = {type, value},
                           .parameter_count = 2,
                           .span = functions->size},
        pointer_and_value, call);
}
