#include "spirv-passes.h"

#include "spirv-module.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The maximal size of one argument: PoCL and the OpenCL minimum agree that more is not to be relied on. */
enum { MAX_ARGUMENT_BYTES = 4096 };

typedef struct {
    const spirv_module *module;
    engine_kernel_info *kernels;
    engine_argument *arguments;
    char *names;
    uint32_t kernel_count;
    size_t argument_count;
    size_t name_bytes;
} reflection;

static bool is_kernel(const uint32_t *at)
{
    return spirv_opcode(at) == SpvOpEntryPoint && at[1] == SpvExecutionModelKernel;
}

static const uint32_t *first_parameter(const spirv_module *module, uint32_t function)
{
    const uint32_t *at = spirv_definition(module, function);
    return at + spirv_length(at);
}

static void count(reflection *found)
{
    const uint32_t *end = spirv_end(found->module);
    for (const uint32_t *at = spirv_first(found->module); at < end; at += spirv_length(at)) {
        if (!is_kernel(at)) continue;
        found->kernel_count++;
        found->name_bytes += strlen(spirv_text(at + 3)) + 1;
        const uint32_t *parameter = first_parameter(found->module, at[2]);
        for (; spirv_opcode(parameter) == SpvOpFunctionParameter; parameter += spirv_length(parameter))
            found->argument_count++;
    }
}

static bool is_by_value(const spirv_module *module, uint32_t parameter)
{
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at))
        if (spirv_opcode(at) == SpvOpDecorate && at[1] == parameter && at[2] == SpvDecorationFuncParamAttr &&
            at[3] == SpvFunctionParameterAttributeByVal)
            return true;
    return false;
}

static bool describe_argument(const spirv_module *module, const uint32_t *parameter, engine_argument *argument)
{
    uint32_t value_type = parameter[1];
    const uint32_t *type = spirv_definition(module, value_type);
    if (spirv_opcode(type) == SpvOpTypePointer) {
        switch (type[2]) {
        case SpvStorageClassCrossWorkgroup:
        case SpvStorageClassUniformConstant: *argument = (engine_argument){ENGINE_POINTER, 8}; return true;
        case SpvStorageClassWorkgroup: *argument = (engine_argument){ENGINE_LOCAL, 0}; return true;
        default:
            if (type[2] != SpvStorageClassFunction || !is_by_value(module, parameter[2])) return false;
            value_type = type[3];
        }
    }
    uint64_t bytes = spirv_layout_of(module, value_type).bytes;
    *argument = (engine_argument){ENGINE_VALUE, (uint32_t)bytes};
    return bytes > 0 && bytes <= MAX_ARGUMENT_BYTES &&
           spirv_opcode(spirv_definition(module, value_type)) != SpvOpTypeBool;
}

void spirv_required_group(const spirv_module *module, uint32_t function, uint32_t group[3])
{
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at)) {
        if (spirv_opcode(at) == SpvOpExecutionMode && at[1] == function && at[2] == SpvExecutionModeLocalSize)
            for (int axis = 0; axis < 3; axis++) group[axis] = at[3 + axis];
        if (spirv_opcode(at) == SpvOpExecutionModeId && at[1] == function && at[2] == SpvExecutionModeLocalSizeId)
            for (int axis = 0; axis < 3; axis++) {
                uint64_t value = 0;
                spirv_integer(module, at[3 + axis], &value);
                group[axis] = (uint32_t)value;
            }
    }
}

/* The memory that a kernel uses: that of its own function and of all that it calls. */
typedef struct {
    uint64_t local_bytes;   /* of Workgroup variables */
    uint64_t private_bytes; /* of Function variables */
} memory_usage;

typedef struct {
    const spirv_module *module;
    bool *seen;        /* by id: functions that are in `waiting` or done, variables that are counted, constants */
    uint32_t *waiting; /* functions still to walk, constants to look at */
    size_t waiting_count;
    memory_usage usage;
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

/* False without memory. */
static bool usage_of(const spirv_module *module, uint32_t function, memory_usage *usage)
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

static uint32_t saturated(uint64_t value) { return value < UINT32_MAX ? (uint32_t)value : UINT32_MAX; }

static spirv_status describe_kernel(reflection *found, const uint32_t *entry, char *reason, size_t reason_bytes)
{
    engine_kernel_info *kernel = &found->kernels[found->kernel_count++];
    const char *name = spirv_text(entry + 3);
    kernel->name = strcpy(found->names + found->name_bytes, name);
    found->name_bytes += strlen(name) + 1;
    engine_argument *arguments = found->arguments + found->argument_count;
    kernel->arguments = arguments;
    const uint32_t *parameter = first_parameter(found->module, entry[2]);
    for (; spirv_opcode(parameter) == SpvOpFunctionParameter; parameter += spirv_length(parameter)) {
        if (!describe_argument(found->module, parameter, &arguments[kernel->argument_count])) {
            snprintf(reason, reason_bytes, "argument %u of kernel %s is of a type that no value can be given for",
                     kernel->argument_count, name);
            return SPIRV_BAD;
        }
        kernel->argument_count++;
    }
    found->argument_count += kernel->argument_count;
    spirv_required_group(found->module, entry[2], kernel->required_group);

    memory_usage usage;
    if (!usage_of(found->module, entry[2], &usage)) return SPIRV_NO_MEMORY;
    kernel->local_bytes = saturated(usage.local_bytes);
    kernel->private_bytes = saturated(usage.private_bytes);
    return SPIRV_OK;
}

spirv_status spirv_reflect(const spirv_module *module, engine_kernel_info **kernels, uint32_t *kernel_count,
                           char *reason, size_t reason_bytes)
{
    reflection found = {.module = module};
    count(&found);
    size_t info_bytes = found.kernel_count * sizeof *found.kernels;
    size_t argument_bytes = found.argument_count * sizeof *found.arguments;
    char *block = calloc(1, info_bytes + argument_bytes + found.name_bytes + 1);
    if (!block) return SPIRV_NO_MEMORY;
    found = (reflection){.module = module,
                         .kernels = (engine_kernel_info *)block,
                         .arguments = (engine_argument *)(block + info_bytes),
                         .names = block + info_bytes + argument_bytes};

    const uint32_t *end = spirv_end(module);
    spirv_status status = SPIRV_OK;
    for (const uint32_t *at = spirv_first(module); status == SPIRV_OK && at < end; at += spirv_length(at))
        if (is_kernel(at)) status = describe_kernel(&found, at, reason, reason_bytes);
    *kernels = found.kernels;
    *kernel_count = found.kernel_count;
    if (status == SPIRV_OK) return SPIRV_OK;
    free(block);
    *kernels = NULL;
    return status;
}
