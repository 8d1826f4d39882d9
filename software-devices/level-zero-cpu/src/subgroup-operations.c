#include "subgroups.h"

#include "subgroup-templates.h"

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

/* The function of a recipe, of a slot with values of the result's type and, where there is one, of a lane. */
static bool call_on_slot(subgroup_functions *functions, subgroup_recipe recipe, uint32_t slot, const uint32_t *lane,
                         subgroup_call *call)
{
    if (slot == 0) return false;
    recipe.result = recipe.value = call->result;
    recipe.span = functions->size;
    recipe.slots = subgroup_pool_of(functions, call->result)->variable;
    recipe.parameters[0] = functions->ulong_type;
    call->arguments[0] = slot;
    call->argument_count = recipe.parameter_count = 1;
    if (lane) {
        const uint32_t type = spirv_definition(functions->edit->module, *lane)[1];
        if (subgroup_bits(functions, type) != 32 || subgroup_components(functions, type) != 1) return false;
        recipe.parameters[1] = recipe.index = type;
        call->arguments[1] = *lane;
        call->argument_count = recipe.parameter_count = 2;
    }
    call->function = subgroup_function(functions, &recipe);
    return call->function != 0;
}

bool subgroup_call_for(subgroup_functions *functions, const uint32_t *instruction, uint32_t slot, subgroup_call *call)
{
    const uint16_t opcode = spirv_opcode(instruction);
    uint64_t scope = SpvScopeSubgroup;
    call->result = opcode == SpvOpSubgroupBlockWriteINTEL ? functions->void_type : instruction[1];
    switch (opcode) {
    case SpvOpSubgroupBlockReadINTEL: return subgroup_block_read(functions, instruction[1], instruction + 3, call);
    case SpvOpSubgroupBlockWriteINTEL: return subgroup_block_write(functions, instruction + 1, call);
    case SpvOpSubgroupShuffleINTEL:
        return call_on_slot(functions, (subgroup_recipe){.text = SHUFFLE_TEXT}, slot, instruction + 4, call);
    default: break;
    }
    if (!spirv_integer(functions->edit->module, instruction[3], &scope) || scope != SpvScopeSubgroup) return false;
    if (opcode == SpvOpGroupBroadcast)
        return call_on_slot(functions, (subgroup_recipe){.text = SHUFFLE_TEXT}, slot, instruction + 5, call);
    for (size_t row = 0; row < sizeof folds / sizeof *folds; row++)
        if (opcode == folds[row].opcode && instruction[4] == SpvGroupOperationReduce)
            return call_on_slot(functions, (subgroup_recipe){.text = FOLD_TEXT, .operation = folds[row].combine}, slot,
                                NULL, call);
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
