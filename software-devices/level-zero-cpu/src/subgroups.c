#include "subgroups.h"

#include "spirv-tools.h"
#include "subgroup-operations.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    subgroup_functions functions;
    spirv_edit edit;
    uint8_t *builtins; /* by id: which sub-group variable it is, plus one; 0 for others */
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

static bool needs_emulation(const spirv_module *module, const uint32_t *at)
{
    switch (spirv_opcode(at)) {
    case SpvOpMemoryBarrier: return true;
    case SpvOpControlBarrier: return is_subgroup_barrier(module, at);
    case SpvOpDecorate: return at[2] == SpvDecorationBuiltIn && is_subgroup_builtin(at[3]);
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
           capability == SpvCapabilitySubgroupShuffleINTEL ||
           (capability >= SpvCapabilityGroupNonUniform && capability <= SpvCapabilityGroupNonUniformClustered);
}

static bool is_dropped_variable(const emulation *state, uint32_t id)
{
    return id < state->edit.module->bound && state->builtins[id] != 0;
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
        if (is_dropped_variable(state, at[1])) return;
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

static void emit_barrier(emulation *state, spirv_words *out)
{
    uint32_t scope = subgroup_constant(&state->functions, SpvScopeWorkgroup);
    uint32_t semantics = subgroup_constant(&state->functions, SUBGROUP_SEMANTICS);
    spirv_emit(out, SpvOpControlBarrier, 3, (uint32_t[]){scope, scope, semantics});
}

/* PoCL has no fences, but its atomic operations are sequentially consistent. */
static void emit_fence(emulation *state, spirv_words *out)
{
    subgroup_functions *functions = &state->functions;
    uint32_t scope = subgroup_constant(functions, SpvScopeWorkgroup);
    uint32_t semantics = subgroup_constant(functions, SUBGROUP_SEMANTICS);
    uint32_t zero = subgroup_constant(functions, 0);
    spirv_emit(
        out, SpvOpAtomicOr, 6,
        (uint32_t[]){functions->uint_type, spirv_new_id(&state->edit), functions->fence, scope, semantics, zero});
}

static void emit_group_operation(emulation *state, const uint32_t *at)
{
    subgroup_call call;
    if (!subgroup_call_for(&state->functions, at, &call)) {
        if (!state->edit.failed)
            engine_say(state->edit.log, "Op%s is not emulated on this device, or not in this scope or for this type",
                       spirv_opcode_name(spirv_opcode(at)));
        state->edit.failed = true;
        return;
    }
    uint32_t operands[6] = {at[1], at[2], call.function};
    memcpy(operands + 3, call.arguments, sizeof call.arguments);
    spirv_emit(&state->edit.bodies, SpvOpFunctionCall, 3 + call.argument_count, operands);
}

static void copy_body(emulation *state, const uint32_t *at)
{
    spirv_words *out = &state->edit.bodies;
    uint16_t opcode = spirv_opcode(at);
    if (opcode == SpvOpLoad && is_dropped_variable(state, at[3])) {
        uint32_t function = subgroup_builtin(&state->functions, state->builtins[at[3]] - 1u);
        spirv_emit(out, SpvOpFunctionCall, 3, (uint32_t[]){at[1], at[2], function});
    } else if (opcode == SpvOpMemoryBarrier) {
        emit_fence(state, out);
    } else if (opcode == SpvOpControlBarrier && is_subgroup_barrier(state->edit.module, at)) {
        emit_barrier(state, out);
    } else if (subgroup_is_group_opcode(opcode)) {
        emit_group_operation(state, at);
    } else {
        spirv_append(out, at, spirv_length(at));
    }
}

static void rewrite(emulation *state, const spirv_module *module)
{
    const uint32_t *end = spirv_end(module), *at = spirv_first(module);
    for (; at < end && is_preamble(spirv_opcode(at)); at += spirv_length(at)) copy_preamble(state, at);
    decorate(&state->edit, state->functions.local_id, SpvBuiltInLocalInvocationId);
    decorate(&state->edit, state->functions.group_size, SpvBuiltInWorkgroupSize);
    for (; at < end && spirv_opcode(at) != SpvOpFunction; at += spirv_length(at))
        if (spirv_opcode(at) != SpvOpVariable || !is_dropped_variable(state, at[2]))
            spirv_append(&state->edit.declarations, at, spirv_length(at));
    subgroup_functions_begin(&state->functions);
    for (; at < end; at += spirv_length(at)) copy_body(state, at);
}

static bool find_size(const spirv_module *module, uint32_t *size, engine_log *log)
{
    bool asked = false;
    *size = SUBGROUP_SIZE;
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at)) {
        if (spirv_opcode(at) != SpvOpExecutionMode || at[2] != SpvExecutionModeSubgroupSize) continue;
        if ((at[3] != 8 && at[3] != 16 && at[3] != 32) || (asked && at[3] != *size)) {
            engine_say(log, "sub-groups of %u: they can be of 8, 16 or 32, and of one size in a module", at[3]);
            return false;
        }
        asked = true;
        *size = at[3];
    }
    return true;
}

/* Notes the built-in variables: sub-groups' are replaced, two others serve the functions. True where anything is to do.
 */
static bool survey(emulation *state, const spirv_module *module)
{
    bool needed = false;
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at)) {
        needed = needed || needs_emulation(module, at);
        if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationBuiltIn) continue;
        if (is_subgroup_builtin(at[3])) state->builtins[at[1]] = (uint8_t)(at[3] + 1);
        if (at[3] == SpvBuiltInLocalInvocationId) state->functions.local_id = at[1];
        if (at[3] == SpvBuiltInWorkgroupSize) state->functions.group_size = at[1];
    }
    return needed;
}

spirv_status subgroups_emulate(spirv_module *module, uint32_t *size, engine_log *log)
{
    if (!find_size(module, size, log)) return SPIRV_BAD;
    emulation *state = calloc(1, sizeof *state);
    uint8_t *builtins = calloc(module->bound, sizeof *builtins);
    spirv_status status = state && builtins ? SPIRV_OK : SPIRV_NO_MEMORY;
    if (status == SPIRV_OK) {
        state->builtins = builtins;
        state->edit = (spirv_edit){.module = module, .bound = module->bound, .log = log};
        state->functions.edit = &state->edit;
        state->functions.size = *size;
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
    free(builtins);
    return status;
}
