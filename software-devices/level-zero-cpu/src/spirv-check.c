#include "subgroups.h"

#include <stdio.h>
#include <string.h>

/* The last four are emulated, see subgroups.h. */
static const SpvCapability capabilities[] = {
    SpvCapabilityAddresses,
    SpvCapabilityLinkage,
    SpvCapabilityKernel,
    SpvCapabilityVector16,
    SpvCapabilityFloat16Buffer,
    SpvCapabilityFloat16,
    SpvCapabilityFloat64,
    SpvCapabilityInt64,
    SpvCapabilityInt64Atomics,
    SpvCapabilityInt16,
    SpvCapabilityInt8,
    SpvCapabilityGenericPointer,
    SpvCapabilityGroups,
    SpvCapabilitySubgroupDispatch,
    SpvCapabilitySubgroupShuffleINTEL,
    SpvCapabilitySubgroupBufferBlockIOINTEL,
};

static bool is_capability(uint32_t number)
{
    for (size_t at = 0; at < sizeof capabilities / sizeof *capabilities; at++)
        if (capabilities[at] == number) return true;
    return false;
}

#define BUILTIN(name, components, bits)                                                                                \
    {                                                                                                                  \
        SpvBuiltIn##name, #name, components, bits                                                                      \
    }

typedef struct {
    uint32_t number;
    const char *name;
    unsigned components; /* of its type */
    unsigned bits;       /* of a component */
} builtin_entry;

static const builtin_entry builtins[] = {
    BUILTIN(NumWorkgroups, 3, 64),
    BUILTIN(WorkgroupSize, 3, 64),
    BUILTIN(WorkgroupId, 3, 64),
    BUILTIN(LocalInvocationId, 3, 64),
    BUILTIN(GlobalInvocationId, 3, 64),
    BUILTIN(GlobalSize, 3, 64),
    BUILTIN(EnqueuedWorkgroupSize, 3, 64),
    BUILTIN(GlobalOffset, 3, 64),
    BUILTIN(LocalInvocationIndex, 1, 64),
    BUILTIN(GlobalLinearId, 1, 64),
    BUILTIN(WorkDim, 1, 32),
    BUILTIN(SubgroupSize, 1, 32),
    BUILTIN(NumSubgroups, 1, 32),
    BUILTIN(SubgroupId, 1, 32),
    BUILTIN(SubgroupLocalInvocationId, 1, 32),
};

/* NULL for a built-in variable that kernels do not have. */
static const builtin_entry *builtin_of(uint32_t number)
{
    for (size_t at = 0; at < sizeof builtins / sizeof *builtins; at++)
        if (builtins[at].number == number) return &builtins[at];
    return NULL;
}

typedef struct {
    const spirv_module *module;
    engine_log *log;
    unsigned kernels;
    uint32_t function; /* that is walked, 0 before the first and in kernels */
    bool shares;       /* a function would have Workgroup memory in common with those of other groups */
} checking;

static bool refuse(checking *state, const char *what, const char *name, const char *why)
{
    engine_say(state->log, "%s%s%s cannot be used on this device%s%s", what, *name ? " " : "", name, why ? ": " : "",
               why ? why : "");
    return false;
}

static bool check_capability(checking *state, uint32_t capability)
{
    char number[30];
    if (is_capability(capability)) return true;
    snprintf(number, sizeof number, "number %u", capability);
    return refuse(state, "capability", number, NULL);
}

/* PoCL reads the wrong registers, or ends the process at launch, when a built-in variable is of another type. */
static bool check_builtin(checking *state, uint32_t id, uint32_t number)
{
    const builtin_entry *builtin = builtin_of(number);
    char name[60], why[100];
    snprintf(name, sizeof name, "number %u", number);
    if (!builtin) return refuse(state, "the built-in variable", name, "kernels have no such variable");

    snprintf(why, sizeof why, "it has to be an Input variable of %s%u-bit integers",
             builtin->components == 3 ? "three " : "", builtin->bits);
    const uint32_t *variable = spirv_definition(state->module, id);
    const uint32_t *pointer = variable ? spirv_definition(state->module, variable[1]) : NULL;
    if (!pointer || spirv_opcode(variable) != SpvOpVariable || variable[3] != SpvStorageClassInput)
        return refuse(state, "the built-in variable", builtin->name, why);
    const uint32_t *type = spirv_definition(state->module, pointer[3]);
    unsigned components = 1;
    if (type && spirv_opcode(type) == SpvOpTypeVector) {
        components = type[3];
        type = spirv_definition(state->module, type[2]);
    }
    if (type && spirv_opcode(type) == SpvOpTypeInt && type[2] == builtin->bits && components == builtin->components)
        return true;
    return refuse(state, "the built-in variable", builtin->name, why);
}

static bool check_memory_model(checking *state, const uint32_t *at)
{
    if (at[1] == SpvAddressingModelPhysical64 && at[2] == SpvMemoryModelOpenCL) return true;
    return refuse(state, "this memory model", "", "it has to be Physical64 OpenCL");
}

static bool check_import(checking *state, const uint32_t *at)
{
    const char *name = spirv_text(at + 2);
    if (strcmp(name, "OpenCL.std") == 0 || strcmp(name, "OpenCL.DebugInfo.100") == 0) return true;
    return refuse(state, "the instruction set", name, "OpenCL.std is the one that kernels have");
}

static bool check_entry_point(checking *state, const uint32_t *at)
{
    const char *name = spirv_text(at + 3);
    if (at[1] != SpvExecutionModelKernel)
        return refuse(state, "the entry point", name, "its execution model is not Kernel");
    if (++state->kernels > SPIRV_MAX_KERNELS) return refuse(state, "another kernel", "", "there are too many");
    if (name[0] == 0) return refuse(state, "an entry point", "", "it has no name");
    return true;
}

/* Compilers of OpenCL C declare built-in variables as imports, which nothing has to be linked for. */
static bool is_input(const checking *state, uint32_t id)
{
    const uint32_t *variable = spirv_definition(state->module, id);
    return variable && spirv_opcode(variable) == SpvOpVariable && variable[3] == SpvStorageClassInput;
}

static bool is_known_function(const checking *state, const uint32_t *decoration)
{
    const uint32_t *function = spirv_definition(state->module, decoration[1]);
    return function && spirv_opcode(function) == SpvOpFunction && subgroup_import_of(spirv_text(decoration + 3));
}

static bool is_linked(const uint32_t *at, unsigned linkage)
{
    if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationLinkageAttributes) return false;
    return at[spirv_length(at) - 1] == linkage;
}

static bool check_instruction(checking *state, const uint32_t *at)
{
    switch (spirv_opcode(at)) {
    case SpvOpCapability: return check_capability(state, at[1]);
    case SpvOpMemoryModel: return check_memory_model(state, at);
    case SpvOpExtInstImport: return check_import(state, at);
    case SpvOpEntryPoint: return check_entry_point(state, at);
    case SpvOpDecorate:
        if (is_linked(at, SpvLinkageTypeImport) && !is_input(state, at[1]) && !is_known_function(state, at))
            return refuse(state, "the import", spirv_text(at + 3),
                          "the driver has no such function, and there is no other module to link with");
        if (at[2] == SpvDecorationBuiltIn) return check_builtin(state, at[1], at[3]);
        return true;
    case SpvOpMemberDecorate:
        if (at[3] == SpvDecorationBuiltIn) return refuse(state, "a built-in variable inside of a structure", "", NULL);
        return true;
    case SpvOpTypeImage:
    case SpvOpTypeSampler:
    case SpvOpTypeSampledImage:
    case SpvOpTypePipe:
    case SpvOpTypePipeStorage:
    case SpvOpTypeQueue:
    case SpvOpTypeDeviceEvent:
    case SpvOpTypeReserveId:
    case SpvOpTypeNamedBarrier: return refuse(state, "the type", spirv_opcode_name(spirv_opcode(at)), NULL);
    default: return true;
    }
}

static bool is_kernel(const spirv_module *module, uint32_t function)
{
    SPIRV_EACH(at, module)
        if (spirv_opcode(at) == SpvOpEntryPoint && at[2] == function) return true;
    return false;
}

/* A variable, or a constant that is made of its address. */
static bool is_workgroup_memory(const spirv_module *module, uint32_t id)
{
    const uint32_t *at = spirv_definition(module, id);
    if (!at || (spirv_opcode(at) != SpvOpVariable && spirv_opcode(at) != SpvOpSpecConstantOp)) return false;
    const uint32_t *type = spirv_definition(module, at[1]);
    return spirv_opcode(type) == SpvOpTypePointer && type[2] == SpvStorageClassWorkgroup;
}

static void see_memory(void *pointer, const uint32_t *at, const uint16_t *id_words, unsigned id_count)
{
    checking *state = pointer;
    if (spirv_opcode(at) == SpvOpFunction) state->function = is_kernel(state->module, at[2]) ? 0 : at[2];
    if (state->function == 0) return;
    /* Sub-groups are emulated by such memory. */
    if (subgroup_is_group_opcode(spirv_opcode(at)) || spirv_calls(state->module, at, true)) state->shares = true;
    for (unsigned word = 0; word < id_count; word++)
        if (is_workgroup_memory(state->module, at[id_words[word]])) state->shares = true;
}

spirv_status spirv_check(const spirv_module *module, engine_log *log)
{
    checking state = {.module = module, .log = log};
    SPIRV_EACH(at, module)
        if (!check_instruction(&state, at)) return SPIRV_BAD;
    const spirv_status walked = spirv_walk(module, see_memory, &state);
    if (walked != SPIRV_OK || !state.shares) return walked;
    refuse(&state, "Workgroup memory in a function", "",
           "only kernels get their group's own, so they have to hand it on");
    return SPIRV_BAD;
}

static const char *name_of_function(const spirv_module *module, uint32_t function)
{
    SPIRV_EACH(at, module) {
        if (spirv_opcode(at) == SpvOpEntryPoint && at[2] == function) return spirv_text(at + 3);
        if (spirv_opcode(at) == SpvOpName && at[1] == function) return spirv_text(at + 2);
    }
    return "without a name";
}

void spirv_warn(const spirv_module *module, engine_log *log)
{
    uint32_t function = 0;
    bool returned = false;
    SPIRV_EACH(at, module) {
        uint16_t opcode = spirv_opcode(at);
        if (opcode == SpvOpFunction) {
            function = at[2];
            returned = false;
        } else if (opcode == SpvOpReturn || opcode == SpvOpReturnValue) {
            returned = true;
        } else if (returned && (opcode == SpvOpControlBarrier || subgroup_is_group_opcode(opcode))) {
            engine_say(
                log,
                "warning: function %s returns before a barrier on some path; results are wrong if only some items of "
                "a group take it",
                name_of_function(module, function));
            returned = false;
        }
    }
}
