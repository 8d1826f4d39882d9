#include "spirv.h"

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
    SPIRV_EACH(at, found->module) {
        if (!is_kernel(at)) continue;
        found->kernel_count++;
        found->name_bytes += strlen(spirv_text(at + 3)) + 1;
        const uint32_t *parameter = first_parameter(found->module, at[2]);
        for (; spirv_opcode(parameter) == SpvOpFunctionParameter; parameter += spirv_length(parameter))
            found->argument_count++;
    }
}

static bool describe_argument(const spirv_module *module, const uint32_t *parameter, engine_argument *argument)
{
    const uint32_t *type = spirv_definition(module, parameter[1]);
    if (spirv_opcode(type) == SpvOpTypePointer) {
        *argument = (engine_argument){ENGINE_POINTER, 8};
        return type[2] == SpvStorageClassCrossWorkgroup || type[2] == SpvStorageClassUniformConstant;
    }
    uint64_t bytes = spirv_layout_of(module, parameter[1]).bytes;
    *argument = (engine_argument){ENGINE_VALUE, (uint32_t)bytes};
    return bytes > 0 && bytes <= MAX_ARGUMENT_BYTES && spirv_opcode(type) != SpvOpTypeBool;
}

void spirv_required_group(const spirv_module *module, uint32_t function, uint32_t group[3])
{
    SPIRV_EACH(at, module)
        if (spirv_opcode(at) == SpvOpExecutionMode && at[1] == function && at[2] == SpvExecutionModeLocalSize)
            for (int axis = 0; axis < 3; axis++) group[axis] = at[3 + axis];
}

static uint64_t variable_bytes(const spirv_module *module, const uint32_t *variable)
{
    return spirv_layout_of(module, spirv_definition(module, variable[1])[3]).bytes;
}

/* Of all Function variables, whichever kernel they belong to: more than one has is rare, and then this is only strict. */
static uint64_t private_bytes_of(const spirv_module *module)
{
    uint64_t bytes = 0;
    SPIRV_EACH(at, module)
        if (spirv_opcode(at) == SpvOpVariable && at[3] == SpvStorageClassFunction) bytes += variable_bytes(module, at);
    return bytes;
}

/* Of the Workgroup variables that a kernel names: what it calls names none. */
static uint64_t local_bytes_of(const spirv_module *module, uint32_t function, bool *seen)
{
    uint64_t bytes = 0;
    const uint32_t *at = spirv_definition(module, function);
    for (; spirv_opcode(at) != SpvOpFunctionEnd; at += spirv_length(at)) {
        /* Any operand may be one; a literal that happens to equal its id costs only a bit of accuracy. */
        for (unsigned word = 1; word < spirv_length(at); word++) {
            const uint32_t *variable = spirv_definition(module, at[word]);
            if (!variable || seen[at[word]] || spirv_opcode(variable) != SpvOpVariable) continue;
            seen[at[word]] = true;
            if (variable[3] == SpvStorageClassWorkgroup) bytes += variable_bytes(module, variable);
        }
    }
    return bytes;
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

    bool *seen = calloc(found->module->bound, sizeof *seen);
    if (!seen) return SPIRV_NO_MEMORY;
    kernel->local_bytes = saturated(local_bytes_of(found->module, entry[2], seen));
    kernel->private_bytes = saturated(private_bytes_of(found->module));
    free(seen);
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

    spirv_status status = SPIRV_OK;
    SPIRV_EACH(at, module)
        if (status == SPIRV_OK && is_kernel(at)) status = describe_kernel(&found, at, reason, reason_bytes);
    *kernels = found.kernels;
    *kernel_count = found.kernel_count;
    if (status == SPIRV_OK) return SPIRV_OK;
    free(block);
    *kernels = NULL;
    return status;
}
