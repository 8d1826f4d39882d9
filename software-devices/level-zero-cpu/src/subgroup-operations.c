#include "subgroup-operations.h"

#include "subgroup-intel.h"
#include "subgroup-templates.h"
#include "subgroups.h"

static const struct {
    uint16_t opcode;
    const char *combine;
} folds[] = {
    {SpvOpGroupIAdd, COMBINE("OpIAdd")},        {SpvOpGroupFAdd, COMBINE("OpFAdd")},
    {SpvOpGroupSMin, CHOOSE("OpSLessThan")},    {SpvOpGroupSMax, CHOOSE("OpSGreaterThan")},
    {SpvOpGroupUMin, CHOOSE("OpULessThan")},    {SpvOpGroupUMax, CHOOSE("OpUGreaterThan")},
    {SpvOpGroupFMin, CHOOSE("OpFOrdLessThan")}, {SpvOpGroupFMax, CHOOSE("OpFOrdGreaterThan")},
};

bool subgroup_is_group_opcode(uint16_t opcode)
{
    bool core = opcode >= SpvOpGroupAll && opcode <= SpvOpGroupSMax;
    bool intel = opcode >= SpvOpSubgroupShuffleINTEL && opcode <= SpvOpSubgroupImageMediaBlockWriteINTEL;
    return core || intel;
}

/* The function of a recipe, of a value that work-items exchange and, where there is one, of a lane. */
static bool call_exchange(subgroup_functions *functions, subgroup_recipe recipe, uint32_t value, const uint32_t *lane,
                          subgroup_call *call)
{
    unsigned count = 0;
    if (subgroup_bits(functions, call->result) == 0) return false;
    recipe.result = recipe.value = recipe.parameters[count] = call->result;
    recipe.span = functions->size;
    call->arguments[count++] = value;
    if (lane) {
        const uint32_t type = spirv_definition(functions->edit->module, *lane)[1];
        if (subgroup_bits(functions, type) != 32 || subgroup_components(functions, type) != 1) return false;
        recipe.parameters[count] = recipe.index = type;
        call->arguments[count++] = *lane;
    }
    call->arguments[count] = subgroup_memory_of(functions, call->result, &recipe.memory);
    if (call->arguments[count] == 0) return false;
    recipe.parameters[count++] = recipe.memory;
    call->argument_count = recipe.parameter_count = count;
    call->function = subgroup_function(functions, &recipe);
    return call->function != 0;
}

bool subgroup_call_for(subgroup_functions *functions, const uint32_t *instruction, subgroup_call *call)
{
    const uint16_t opcode = spirv_opcode(instruction);
    const subgroup_recipe shuffle = {.text = SHUFFLE_TEXT};
    uint64_t scope = SpvScopeSubgroup;
    call->result = opcode == SpvOpSubgroupBlockWriteINTEL ? functions->void_type : instruction[1];
    switch (opcode) {
    case SpvOpSubgroupBlockReadINTEL: return subgroup_block_read(functions, instruction[1], instruction + 3, call);
    case SpvOpSubgroupBlockWriteINTEL: return subgroup_block_write(functions, instruction + 1, call);
    case SpvOpSubgroupShuffleINTEL: return call_exchange(functions, shuffle, instruction[3], instruction + 4, call);
    default: break;
    }
    if (!spirv_integer(functions->edit->module, instruction[3], &scope) || scope != SpvScopeSubgroup) return false;
    if (opcode == SpvOpGroupBroadcast)
        return call_exchange(functions, shuffle, instruction[4], instruction + 5, call);
    for (size_t row = 0; row < sizeof folds / sizeof *folds; row++)
        if (opcode == folds[row].opcode && instruction[4] == SpvGroupOperationReduce)
            return call_exchange(functions, (subgroup_recipe){.text = FOLD_TEXT, .operation = folds[row].combine},
                                 instruction[5], NULL, call);
    return false;
}

uint32_t subgroup_builtin(subgroup_functions *functions, uint32_t builtin)
{
    const char *text = SIZE_TEXT;
    if (builtin == SpvBuiltInNumSubgroups) text = COUNT_TEXT;
    if (builtin == SpvBuiltInSubgroupId) text = INDEX_TEXT;
    if (builtin == SpvBuiltInSubgroupLocalInvocationId) text = LANE_TEXT;
    return subgroup_function(functions,
                             &(subgroup_recipe){.text = text, .result = functions->uint_type, .span = functions->size});
}
