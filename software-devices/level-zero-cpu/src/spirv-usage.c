#include "spirv-usage.h"

#include "spirv-types.h"

#include <stdlib.h>

typedef struct {
    const spirv_module *module;
    bool *seen;        /* by id: functions that are in `waiting` or done, variables that are counted, constants */
    uint32_t *waiting; /* functions still to walk, constants to look at */
    size_t waiting_count;
    spirv_usage usage;
} walk;

static uint64_t variable_bytes(const spirv_module *module, const uint32_t *variable)
{
    const uint32_t *pointer = spirv_definition(module, variable[1]);
    return pointer && spirv_opcode(pointer) == SpvOpTypePointer ? spirv_layout_of(module, pointer[3]).bytes : 0;
}

/* Constants may be made of a variable's address. */
static bool is_made_constant(uint16_t opcode)
{
    return opcode == SpvOpSpecConstantOp || opcode == SpvOpConstantComposite || opcode == SpvOpSpecConstantComposite;
}

static void see_instruction(walk *state, const uint32_t *at)
{
    if (spirv_opcode(at) == SpvOpVariable) state->usage.private_bytes += variable_bytes(state->module, at);
    /* Any operand may name a variable; a literal that happens to equal its id costs only a bit of accuracy. */
    for (unsigned word = 1; word < spirv_length(at); word++) {
        uint32_t id = at[word];
        const uint32_t *definition = spirv_definition(state->module, id);
        if (!definition || state->seen[id]) continue;
        if (spirv_opcode(definition) == SpvOpFunction && spirv_opcode(at) == SpvOpFunctionCall && word == 3) {
            state->seen[id] = true;
            state->waiting[state->waiting_count++] = id;
        } else if (spirv_opcode(definition) == SpvOpVariable && definition[3] == SpvStorageClassWorkgroup) {
            state->seen[id] = true;
            state->usage.local_bytes += variable_bytes(state->module, definition);
        } else if (is_made_constant(spirv_opcode(definition))) {
            state->seen[id] = true;
            state->waiting[state->waiting_count++] = id;
        }
    }
}

bool spirv_usage_of(const spirv_module *module, uint32_t function, spirv_usage *usage)
{
    walk state = {.module = module,
                  .seen = calloc(module->bound, sizeof *state.seen),
                  .waiting = calloc(module->bound, sizeof *state.waiting)};
    bool ok = state.seen && state.waiting && function < module->bound;
    if (ok) {
        state.seen[function] = true;
        state.waiting[state.waiting_count++] = function;
    }
    while (ok && state.waiting_count > 0) {
        const uint32_t *at = spirv_definition(module, state.waiting[--state.waiting_count]);
        if (at && spirv_opcode(at) != SpvOpFunction) {
            see_instruction(&state, at);
            continue;
        }
        for (; at && at < spirv_end(module) && spirv_opcode(at) != SpvOpFunctionEnd; at += spirv_length(at))
            see_instruction(&state, at);
    }
    *usage = state.usage;
    free(state.seen);
    free(state.waiting);
    return ok;
}
