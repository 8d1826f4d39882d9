#include "spirv.h"

#include <stdlib.h>
#include <string.h>

/* The specification's limit. */
enum { MAX_PARAMETERS = 255 };

/* Numbers of locals and of functions are counted from 1; 0 is for ids that are neither. */
typedef struct {
    const spirv_module *module;
    spirv_edit edit;
    uint32_t *local_numbers;    /* by id: Workgroup variables, and constants made of their addresses */
    uint32_t *locals;           /* by number: the id */
    uint32_t *replacements;     /* by number: the id that stands for it in the function being written */
    uint32_t *function_numbers; /* by id */
    bool *is_kernel;            /* by function number */
    bool *uses;                 /* by function number and local number */
    uint32_t local_count, function_count;
    uint32_t function; /* the number of the one being walked, 0 before the first */
    bool in_body;      /* after its first label */
} passing;

static bool *use_of(const passing *state, uint32_t function, uint32_t local)
{
    return &state->uses[(size_t)function * (state->local_count + 1) + local];
}

static bool gets_parameters(const passing *state, uint32_t function)
{
    if (state->is_kernel[function]) return false;
    for (uint32_t local = 1; local <= state->local_count; local++)
        if (*use_of(state, function, local)) return true;
    return false;
}

static bool is_local_variable(const uint32_t *at)
{
    return spirv_opcode(at) == SpvOpVariable && at[3] == SpvStorageClassWorkgroup;
}

/* Most modules need nothing: no such variable, or nothing that is called. */
static bool may_need_work(const spirv_module *module)
{
    bool has_local = false, has_call = false;
    SPIRV_EACH(at, module) {
        has_local = has_local || is_local_variable(at);
        has_call = has_call || spirv_opcode(at) == SpvOpFunctionCall;
    }
    return has_local && has_call;
}

static void add_local(passing *state, uint32_t id)
{
    state->locals[++state->local_count] = id;
    state->local_numbers[id] = state->local_count;
}

/* Numbers locals and functions. */
static void find(void *pointer, const uint32_t *at, const uint16_t *id_words, unsigned id_count)
{
    passing *state = pointer;
    unsigned type_word, result_word;
    if (spirv_opcode(at) == SpvOpFunction) state->function_numbers[at[2]] = ++state->function_count;
    if (state->function_count > 0) return;
    if (is_local_variable(at)) {
        add_local(state, at[2]);
        return;
    }
    spirv_result_words(spirv_opcode(at), &type_word, &result_word);
    if (type_word == 0 || result_word == 0 || state->local_numbers[at[result_word]]) return;
    for (unsigned word = 0; word < id_count; word++) {
        if (!state->local_numbers[at[id_words[word]]]) continue;
        if (spirv_opcode(at) == SpvOpVariable) {
            engine_say(state->edit.log, "a variable cannot start with the address of Workgroup memory on this device");
            state->edit.failed = true;
        } else add_local(state, at[result_word]);
        return;
    }
}

static void see_uses(void *pointer, const uint32_t *at, const uint16_t *id_words, unsigned id_count)
{
    passing *state = pointer;
    if (spirv_opcode(at) == SpvOpEntryPoint) state->is_kernel[state->function_numbers[at[2]]] = true;
    if (spirv_opcode(at) == SpvOpFunction) state->function = state->function_numbers[at[2]];
    if (state->function == 0) return;
    for (unsigned word = 0; word < id_count; word++) {
        uint32_t local = state->local_numbers[at[id_words[word]]];
        if (local) *use_of(state, state->function, local) = true;
    }
}

/* A function uses what its callees use. True where that was news. */
static bool spread_uses(const passing *state)
{
    bool news = false;
    uint32_t caller = 0;
    SPIRV_EACH(at, state->module) {
        if (spirv_opcode(at) == SpvOpFunction) caller = state->function_numbers[at[2]];
        if (spirv_opcode(at) != SpvOpFunctionCall) continue;
        uint32_t callee = state->function_numbers[at[3]];
        for (uint32_t local = 1; local <= state->local_count; local++) {
            if (!*use_of(state, callee, local) || *use_of(state, caller, local)) continue;
            *use_of(state, caller, local) = true;
            news = true;
        }
    }
    return news;
}

static uint32_t type_of_local(const passing *state, uint32_t local)
{
    return spirv_definition(state->module, state->locals[local])[1];
}

/* The type of a function, with the parameters that it gets. */
static uint32_t declare_function_type(passing *state, uint32_t type)
{
    const uint32_t *definition = spirv_definition(state->module, type);
    spirv_words operands = {0};
    spirv_append(&operands, definition + 2, spirv_length(definition) - 2u);
    for (uint32_t local = 1; local <= state->local_count; local++) {
        if (!*use_of(state, state->function, local)) continue;
        uint32_t parameter = type_of_local(state, local);
        spirv_append(&operands, &parameter, 1);
    }
    if (operands.count > MAX_PARAMETERS + 1) {
        engine_say(state->edit.log, "a function uses too many Workgroup variables: they and its parameters can be %d",
                   MAX_PARAMETERS);
        state->edit.failed = true;
    }
    if (operands.failed) state->edit.declarations.failed = true;
    uint32_t result = 0;
    if (!operands.failed && !state->edit.failed)
        result = spirv_declare_type(&state->edit, SpvOpTypeFunction, (unsigned)operands.count, operands.words);
    free(operands.words);
    return result;
}

static void begin_function(passing *state, const uint32_t *at)
{
    uint32_t operands[4] = {at[1], at[2], at[3], at[4]};
    state->function = state->function_numbers[at[2]];
    state->in_body = false;
    for (uint32_t local = 1; local <= state->local_count; local++) state->replacements[local] = state->locals[local];
    if (gets_parameters(state, state->function)) {
        operands[3] = declare_function_type(state, at[4]);
        for (uint32_t local = 1; local <= state->local_count; local++)
            if (*use_of(state, state->function, local)) state->replacements[local] = spirv_new_id(&state->edit);
    }
    spirv_emit(&state->edit.bodies, SpvOpFunction, 4, operands);
}

/* Parameters that a function gets stand after its own. */
static void add_parameters(passing *state)
{
    for (uint32_t local = 1; local <= state->local_count; local++)
        if (state->replacements[local] != state->locals[local])
            spirv_emit(&state->edit.bodies, SpvOpFunctionParameter, 2,
                       (uint32_t[]){type_of_local(state, local), state->replacements[local]});
}

static void add_arguments(passing *state, const uint32_t *call, size_t start)
{
    spirv_words *out = &state->edit.bodies;
    uint32_t callee = state->function_numbers[call[3]];
    for (uint32_t local = 1; local <= state->local_count; local++)
        if (*use_of(state, callee, local)) spirv_append(out, &state->replacements[local], 1);
    if (!out->failed) out->words[start] = (uint32_t)(out->count - start) << 16 | SpvOpFunctionCall;
}

static void rewrite(void *pointer, const uint32_t *at, const uint16_t *id_words, unsigned id_count)
{
    passing *state = pointer;
    spirv_words *out = &state->edit.bodies;
    uint16_t opcode = spirv_opcode(at);
    if (opcode == SpvOpFunction) {
        begin_function(state, at);
        return;
    }
    if (state->function == 0) {
        spirv_append(&state->edit.declarations, at, spirv_length(at));
        return;
    }
    if (opcode == SpvOpLabel && !state->in_body) {
        state->in_body = true;
        add_parameters(state);
    }
    size_t start = out->count;
    spirv_append(out, at, spirv_length(at));
    for (unsigned word = 0; word < id_count && !out->failed; word++) {
        uint32_t local = state->local_numbers[at[id_words[word]]];
        if (local) out->words[start + id_words[word]] = state->replacements[local];
    }
    if (opcode == SpvOpFunctionCall) add_arguments(state, at, start);
}

static spirv_status find_uses(passing *state)
{
    const spirv_module *module = state->module;
    spirv_status status = spirv_walk(module, find, state);
    if (status == SPIRV_OK && state->edit.failed) status = SPIRV_BAD;
    if (status != SPIRV_OK) return status;
    state->is_kernel = calloc(state->function_count + 1, sizeof *state->is_kernel);
    state->uses = calloc(state->function_count + 1, (state->local_count + 1) * sizeof *state->uses);
    if (!state->is_kernel || !state->uses) return SPIRV_NO_MEMORY;
    status = spirv_walk(module, see_uses, state);
    while (status == SPIRV_OK && spread_uses(state)) continue;
    return status;
}

static spirv_status pass(passing *state, spirv_module *module)
{
    state->local_numbers = calloc(module->bound, sizeof *state->local_numbers);
    state->locals = calloc(module->bound + 1, sizeof *state->locals);
    state->replacements = calloc(module->bound + 1, sizeof *state->replacements);
    state->function_numbers = calloc(module->bound, sizeof *state->function_numbers);
    if (!state->local_numbers || !state->locals || !state->replacements || !state->function_numbers)
        return SPIRV_NO_MEMORY;
    spirv_status status = find_uses(state);
    bool needed = false;
    for (uint32_t function = 1; status == SPIRV_OK && function <= state->function_count; function++)
        needed = needed || gets_parameters(state, function);
    if (!needed) return status;
    state->function = 0;
    status = spirv_walk(module, rewrite, state);
    if (status == SPIRV_BAD) state->edit.failed = true;
    spirv_status finished = spirv_finish_edit(&state->edit, module);
    return status == SPIRV_OK ? finished : status;
}

spirv_status spirv_pass_locals(spirv_module *module, engine_log *log)
{
    if (!may_need_work(module)) return SPIRV_OK;
    passing state = {.module = module, .edit = {.module = module, .bound = module->bound, .log = log}};
    spirv_status status = pass(&state, module);
    free(state.local_numbers);
    free(state.locals);
    free(state.replacements);
    free(state.function_numbers);
    free(state.is_kernel);
    free(state.uses);
    return status;
}
