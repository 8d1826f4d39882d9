#include "subgroups.h"

#include "subgroup-templates.h"

#include <string.h>

static uint32_t constant(subgroup_functions *functions, uint32_t value)
{
    return spirv_declare_constant(functions->edit, SpvOpConstant, functions->uint_type, 1, &value);
}

uint32_t subgroup_wide_constant(subgroup_functions *functions, uint32_t value)
{
    return spirv_declare_constant(functions->edit, SpvOpConstant, functions->ulong_type, 2, (uint32_t[]){value, 0});
}

static uint32_t declare_pointer(spirv_edit *edit, uint32_t storage, uint32_t type)
{
    return spirv_declare_type(edit, SpvOpTypePointer, 2, (uint32_t[]){storage, type});
}

static void declare_variable(spirv_edit *edit, uint32_t id, uint32_t type, uint32_t storage)
{
    uint32_t pointer = declare_pointer(edit, storage, type);
    spirv_emit(&edit->declarations, SpvOpVariable, 3, (uint32_t[]){pointer, id, storage});
}

void subgroup_functions_begin(subgroup_functions *functions)
{
    spirv_edit *edit = functions->edit;
    functions->void_type = spirv_declare_type(edit, SpvOpTypeVoid, 0, NULL);
    functions->bool_type = spirv_declare_type(edit, SpvOpTypeBool, 0, NULL);
    functions->uint_type = spirv_declare_type(edit, SpvOpTypeInt, 2, (uint32_t[]){32, 0});
    functions->ulong_type = spirv_declare_type(edit, SpvOpTypeInt, 2, (uint32_t[]){64, 0});
    functions->vector_type = spirv_declare_type(edit, SpvOpTypeVector, 2, (uint32_t[]){functions->ulong_type, 3});
    if (!spirv_definition(edit->module, functions->local_id))
        declare_variable(edit, functions->local_id, functions->vector_type, SpvStorageClassInput);
    if (!spirv_definition(edit->module, functions->group_size))
        declare_variable(edit, functions->group_size, functions->vector_type, SpvStorageClassInput);
}

void subgroup_declare_array(subgroup_functions *functions, uint32_t id, uint32_t type, uint32_t length)
{
    const uint32_t operands[2] = {type, constant(functions, length)};
    uint32_t array = spirv_declare_type(functions->edit, SpvOpTypeArray, 2, operands);
    declare_variable(functions->edit, id, array, SpvStorageClassWorkgroup);
}

void subgroup_barrier(subgroup_functions *functions, spirv_words *out)
{
    uint32_t scope = constant(functions, SpvScopeWorkgroup);
    uint32_t semantics = constant(functions, SUBGROUP_SEMANTICS);
    spirv_emit(out, SpvOpControlBarrier, 3, (uint32_t[]){scope, scope, semantics});
}

static const uint32_t *definition_of(const subgroup_functions *functions, uint32_t type)
{
    return spirv_definition(functions->edit->module, type);
}

unsigned subgroup_components(const subgroup_functions *functions, uint32_t type)
{
    const uint32_t *definition = definition_of(functions, type);
    return definition && spirv_opcode(definition) == SpvOpTypeVector ? definition[3] : 1;
}

static uint32_t component_type(const subgroup_functions *functions, uint32_t type)
{
    const uint32_t *definition = definition_of(functions, type);
    return definition && spirv_opcode(definition) == SpvOpTypeVector ? definition[2] : type;
}

unsigned subgroup_bits(const subgroup_functions *functions, uint32_t type)
{
    if (type == functions->uint_type) return 32;
    const uint32_t *definition = definition_of(functions, component_type(functions, type));
    if (!definition) return 0;
    return spirv_opcode(definition) == SpvOpTypeInt || spirv_opcode(definition) == SpvOpTypeFloat ? definition[2] : 0;
}

/* The type that a comparison of values has. */
static uint32_t truth_type(subgroup_functions *functions, uint32_t type)
{
    unsigned components = subgroup_components(functions, type);
    if (components == 1) return functions->bool_type;
    return spirv_declare_type(functions->edit, SpvOpTypeVector, 2, (uint32_t[]){functions->bool_type, components});
}

static uint32_t helper(subgroup_functions *functions, const char *text, uint32_t result)
{
    return subgroup_function(functions, &(subgroup_recipe){.text = text, .result = result});
}

void subgroup_define_function(subgroup_functions *functions, const subgroup_recipe *recipe, uint32_t id)
{
    spirv_edit *edit = functions->edit;
    uint32_t signature[4] = {recipe->result};
    memcpy(signature + 1, recipe->parameters, sizeof recipe->parameters);
    uint32_t value = recipe->value ? recipe->value : functions->uint_type;
    /* These two are what the others call, and call nothing. */
    bool basic = recipe->text == ITEM_TEXT || recipe->text == TOTAL_TEXT;
    const spirv_symbol symbols[] = {
        {"function", id, NULL},
        {"type", spirv_declare_type(edit, SpvOpTypeFunction, 1 + recipe->parameter_count, signature), NULL},
        {"R", recipe->result, NULL},
        {"T", value, NULL},
        {"I", recipe->index, NULL},
        {"R_part", component_type(functions, recipe->result), NULL},
        {"T_part", component_type(functions, value), NULL},
        {"B", truth_type(functions, value), NULL},
        {"bool", functions->bool_type, NULL},
        {"uint", functions->uint_type, NULL},
        {"ulong", functions->ulong_type, NULL},
        {"v3ulong", functions->vector_type, NULL},
        {"T_pointer", declare_pointer(edit, SpvStorageClassWorkgroup, value), NULL},
        {"memory", recipe->slots, NULL},
        {"local_id", functions->local_id, NULL},
        {"group_size", functions->group_size, NULL},
        {"item_of", basic ? 0 : helper(functions, ITEM_TEXT, functions->ulong_type), NULL},
        {"total_of", basic ? 0 : helper(functions, TOTAL_TEXT, functions->uint_type), NULL},
        {"wide_x", recipe->wide_x, NULL},
        {"wide_y", recipe->wide_y, NULL},
        {"widen_x", recipe->widen_x, NULL},
        {"widen_y", recipe->widen_y, NULL},
        {"span", constant(functions, recipe->span), NULL},
        {"wide_span", subgroup_wide_constant(functions, recipe->span), NULL},
        {"zero", constant(functions, 0), NULL},
        {"one", constant(functions, 1), NULL},
        {"lanes", 0, functions->are_rows && recipe->span == functions->size ? LANE_IN_ROW : LANE_IN_SPAN},
        {"operation", 0, recipe->operation},
        {"bounds", 0, recipe->bounds},
        {"times", 0, subgroup_components(functions, recipe->result) == 1 ? "OpFMul" : "OpVectorTimesScalar"},
    };
    spirv_write_function(edit, recipe->text, sizeof symbols / sizeof *symbols, symbols);
}

uint32_t subgroup_function(subgroup_functions *functions, const subgroup_recipe *recipe)
{
    /* Up to the last member, as what is after it is not set. */
    const size_t bytes = offsetof(subgroup_recipe, slots) + sizeof recipe->slots;
    for (unsigned at = 0; at < functions->known_count; at++)
        if (memcmp(&functions->known[at].recipe, recipe, bytes) == 0) return functions->known[at].id;
    if (functions->known_count == SUBGROUP_MAX_FUNCTIONS) {
        engine_say(functions->edit->log, "more than %d kinds of sub-group operations", SUBGROUP_MAX_FUNCTIONS);
        functions->edit->failed = true;
        return 0;
    }
    uint32_t id = spirv_new_id(functions->edit);
    functions->known[functions->known_count].recipe = *recipe;
    functions->known[functions->known_count++].id = id;
    subgroup_define_function(functions, recipe, id);
    return id;
}
