#include "subgroups.h"

#include <stdlib.h>
#include <string.h>

/* The kind of an id of the module, as far as it concerns sub-groups. */
typedef struct {
    const subgroup_import *import; /* a function that the module leaves to the driver */
    uint8_t builtin;               /* a variable: which, plus one */
    bool is_parameter;             /* of an import */
} role;

typedef struct {
    subgroup_functions functions;
    subgroup_slots slots;
    spirv_edit edit;
    role *roles; /* by id */
    bool has_imports;
    bool in_import; /* between the declaration of an import and its end */
} emulation;

static bool is_subgroup_builtin(uint32_t builtin)
{
    return builtin >= SpvBuiltInSubgroupSize && builtin <= SpvBuiltInSubgroupLocalInvocationId;
}

static bool is_subgroup_barrier(const spirv_module *module, const uint32_t *at)
{
    uint64_t scope = SpvScopeWorkgroup;
    spirv_integer(module, at[1], &scope);
    return scope == SpvScopeSubgroup;
}

static bool is_import(const spirv_module *module, const uint32_t *at)
{
    if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationLinkageAttributes) return false;
    const uint32_t *definition = spirv_definition(module, at[1]);
    return at[spirv_length(at) - 1] == SpvLinkageTypeImport && definition && spirv_opcode(definition) == SpvOpFunction;
}

static bool needs_emulation(const spirv_module *module, const uint32_t *at)
{
    switch (spirv_opcode(at)) {
    case SpvOpControlBarrier: return is_subgroup_barrier(module, at);
    case SpvOpDecorate:
        return (at[2] == SpvDecorationBuiltIn && is_subgroup_builtin(at[3])) || is_import(module, at);
    case SpvOpCapability: return at[1] == SpvCapabilitySubgroupDispatch;
    default: return subgroup_is_group_opcode(spirv_opcode(at));
    }
}

static bool is_preamble(uint16_t opcode)
{
    switch (opcode) {
    case SpvOpNop:
    case SpvOpSourceContinued:
    case SpvOpSource:
    case SpvOpSourceExtension:
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpString:
    case SpvOpExtension:
    case SpvOpExtInstImport:
    case SpvOpMemoryModel:
    case SpvOpEntryPoint:
    case SpvOpExecutionMode:
    case SpvOpExecutionModeId:
    case SpvOpCapability:
    case SpvOpModuleProcessed: return true;
    default: return opcode >= SpvOpDecorate && opcode <= SpvOpGroupMemberDecorate;
    }
}

static bool is_emulated_capability(uint32_t capability)
{
    return capability == SpvCapabilityGroups || capability == SpvCapabilitySubgroupDispatch ||
           capability == SpvCapabilitySubgroupShuffleINTEL || capability == SpvCapabilitySubgroupBufferBlockIOINTEL;
}

static bool is_dropped_variable(const emulation *state, uint32_t id)
{
    return id < state->edit.module->bound && state->roles[id].builtin != 0;
}

static bool is_dropped(const emulation *state, uint32_t id)
{
    return is_dropped_variable(state, id) || (id < state->edit.module->bound && state->roles[id].is_parameter);
}

/* The two variables that all functions need join the interface; those of sub-groups leave it. */
static void copy_entry_point(emulation *state, const uint32_t *at)
{
    const subgroup_functions *functions = &state->functions;
    const unsigned name_words = (unsigned)strlen(spirv_text(at + 3)) / 4 + 1;
    spirv_words operands = {0};
    spirv_append(&operands, at + 1, 2 + name_words);
    for (unsigned word = 3 + name_words; word < spirv_length(at); word++)
        if (!is_dropped_variable(state, at[word]) && at[word] != functions->local_id &&
            at[word] != functions->group_size)
            spirv_append(&operands, at + word, 1);
    spirv_append(&operands, &functions->local_id, 1);
    spirv_append(&operands, &functions->group_size, 1);
    if (operands.failed) state->edit.preamble.failed = true;
    else spirv_emit(&state->edit.preamble, SpvOpEntryPoint, (unsigned)operands.count, operands.words);
    free(operands.words);
}

static void copy_preamble(emulation *state, const uint32_t *at)
{
    spirv_words *out = &state->edit.preamble;
    switch (spirv_opcode(at)) {
    case SpvOpEntryPoint: copy_entry_point(state, at); return;
    case SpvOpCapability:
        if (is_emulated_capability(at[1])) return;
        break;
    case SpvOpExecutionMode:
        if (at[2] == SpvExecutionModeSubgroupSize) return;
        break;
    case SpvOpName:
    case SpvOpDecorate:
        if (is_dropped(state, at[1]) || is_import(state->edit.module, at)) return;
        break;
    default: break;
    }
    spirv_append(out, at, spirv_length(at));
}

static void decorate(spirv_edit *edit, uint32_t variable, SpvBuiltIn builtin)
{
    if (spirv_definition(edit->module, variable)) return;
    spirv_emit(&edit->preamble, SpvOpDecorate, 3, (uint32_t[]){variable, SpvDecorationBuiltIn, builtin});
    spirv_emit(&edit->preamble, SpvOpDecorate, 2, (uint32_t[]){variable, SpvDecorationConstant});
}

static void refuse(emulation *state, const uint32_t *at)
{
    if (!state->edit.failed)
        engine_say(state->edit.log, "Op%s is not emulated on this device, or not in this scope or for this type",
                   spirv_opcode_name(spirv_opcode(at)));
    state->edit.failed = true;
}

static void emit_group_operation(emulation *state, const uint32_t *at, uint32_t slot)
{
    subgroup_call call;
    if (!subgroup_call_for(&state->functions, at, slot, &call)) {
        refuse(state, at);
        return;
    }
    const bool has_result = call.result != state->functions.void_type;
    uint32_t operands[6] = {call.result, has_result ? at[2] : spirv_new_id(&state->edit), call.function};
    memcpy(operands + 3, call.arguments, sizeof call.arguments);
    spirv_emit(&state->edit.bodies, SpvOpFunctionCall, 3 + call.argument_count, operands);
}

/* The replacement of an import has a slot instead of the first operand. */
static void emit_call_of_import(emulation *state, const uint32_t *at, uint32_t slot)
{
    spirv_words *out = &state->edit.bodies;
    spirv_append(out, at, 4);
    spirv_append(out, &slot, 1);
    spirv_append(out, at + 5, spirv_length(at) - 5u);
}

/* The declaration goes, and a function takes its id. */
static bool skip_import(emulation *state, const uint32_t *at)
{
    const uint16_t opcode = spirv_opcode(at);
    const subgroup_import *import = opcode == SpvOpFunction ? state->roles[at[2]].import : NULL;
    if (import) {
        state->in_import = true;
        if (!subgroup_define_import(&state->functions, at, import)) state->edit.failed = true;
        return true;
    }
    const bool skipped = state->in_import;
    if (opcode == SpvOpFunctionEnd) state->in_import = false;
    return skipped;
}

static void copy_body(emulation *state, const uint32_t *at)
{
    spirv_words *out = &state->edit.bodies;
    uint16_t opcode = spirv_opcode(at);
    if (skip_import(state, at)) return;
    subgroup_slots_pass(&state->slots, at);
    const bool takes = subgroup_taken_value(&state->functions, at) != 0;
    const uint32_t slot = takes ? subgroup_slot_for(&state->slots, at) : 0;
    if (opcode == SpvOpLoad && is_dropped_variable(state, at[3])) {
        uint32_t function = subgroup_builtin(&state->functions, state->roles[at[3]].builtin - 1u);
        spirv_emit(out, SpvOpFunctionCall, 3, (uint32_t[]){at[1], at[2], function});
    } else if (opcode == SpvOpControlBarrier && is_subgroup_barrier(state->edit.module, at)) {
        refuse(state, at);
    } else if (subgroup_is_group_opcode(opcode)) {
        emit_group_operation(state, at, slot);
    } else if (takes) {
        emit_call_of_import(state, at, slot);
    } else {
        spirv_append(out, at, spirv_length(at));
    }
}

static void rewrite(emulation *state, const spirv_module *module)
{
    const uint32_t *end = spirv_end(module), *at = spirv_first(module);
    /* Their functions convert halves, which the module may have as integers only. */
    if (state->has_imports) spirv_emit(&state->edit.preamble, SpvOpCapability, 1, (uint32_t[]){SpvCapabilityFloat16});
    for (; at < end && is_preamble(spirv_opcode(at)); at += spirv_length(at)) copy_preamble(state, at);
    decorate(&state->edit, state->functions.local_id, SpvBuiltInLocalInvocationId);
    decorate(&state->edit, state->functions.group_size, SpvBuiltInWorkgroupSize);
    for (; at < end && spirv_opcode(at) != SpvOpFunction; at += spirv_length(at))
        if (spirv_opcode(at) != SpvOpVariable || !is_dropped_variable(state, at[2]))
            spirv_append(&state->edit.declarations, at, spirv_length(at));
    subgroup_functions_begin(&state->functions);
    for (; at < end; at += spirv_length(at)) copy_body(state, at);
    subgroup_slots_end(&state->functions);
}

const uint32_t subgroup_sizes[ENGINE_SUBGROUP_SIZES] = {8, 16, 32};

static bool is_size(uint32_t size)
{
    for (int at = 0; at < ENGINE_SUBGROUP_SIZES; at++)
        if (subgroup_sizes[at] == size) return true;
    return false;
}

static bool find_size(const spirv_module *module, uint32_t *size, engine_log *log)
{
    bool asked = false;
    *size = subgroup_sizes[0];
    SPIRV_EACH(at, module) {
        if (spirv_opcode(at) != SpvOpExecutionMode || at[2] != SpvExecutionModeSubgroupSize) continue;
        if (!is_size(at[3]) || (asked && at[3] != *size)) {
            engine_say(log, "sub-groups of %u: they can be of 8, 16 or 32, and of one size in a module", at[3]);
            return false;
        }
        asked = true;
        *size = at[3];
    }
    return true;
}

/* Imports and what they are declared with: decorations come before functions. */
static void note_import(emulation *state, const spirv_module *module, const uint32_t *at, bool *within)
{
    if (is_import(module, at)) {
        state->roles[at[1]].import = subgroup_import_of(spirv_text(at + 3));
        state->has_imports = true;
    }
    if (spirv_opcode(at) == SpvOpFunction) *within = state->roles[at[2]].import != NULL;
    if (spirv_opcode(at) == SpvOpFunctionParameter) state->roles[at[2]].is_parameter = *within;
}

/* Notes the built-in variables: sub-groups' are replaced, two others serve the functions. True where anything is to do.
 */
static bool survey(emulation *state, const spirv_module *module)
{
    bool needed = false, within_import = false;
    SPIRV_EACH(at, module) {
        needed = needed || needs_emulation(module, at);
        note_import(state, module, at, &within_import);
        if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationBuiltIn) continue;
        if (is_subgroup_builtin(at[3])) state->roles[at[1]].builtin = (uint8_t)(at[3] + 1);
        if (at[3] == SpvBuiltInLocalInvocationId) state->functions.local_id = at[1];
        if (at[3] == SpvBuiltInWorkgroupSize) state->functions.group_size = at[1];
    }
    return needed;
}

spirv_status subgroups_emulate(spirv_module *module, uint32_t *size, engine_log *log)
{
    if (!find_size(module, size, log)) return SPIRV_BAD;
    emulation *state = calloc(1, sizeof *state);
    role *roles = calloc(module->bound, sizeof *roles);
    spirv_status status = state && roles ? SPIRV_OK : SPIRV_NO_MEMORY;
    if (status == SPIRV_OK) {
        state->roles = roles;
        state->edit = (spirv_edit){.module = module, .bound = module->bound, .log = log};
        state->functions.edit = &state->edit;
        state->functions.size = *size;
        subgroup_measure_groups(&state->functions, module);
        state->slots.functions = &state->functions;
        state->slots.out = &state->edit.bodies;
        if (survey(state, module)) {
            if (!state->functions.local_id) state->functions.local_id = spirv_new_id(&state->edit);
            if (!state->functions.group_size) state->functions.group_size = spirv_new_id(&state->edit);
            rewrite(state, module);
            status = spirv_finish_edit(&state->edit, module);
            /* A sub-group variable that is not only loaded, say, is now an id that nothing defines. */
            if (status == SPIRV_OK && (status = spirv_validate(module, log)) == SPIRV_BAD)
                engine_say(log, "the module uses sub-groups in a way that cannot be emulated");
        }
    }
    free(state);
    free(roles);
    return status;
}
