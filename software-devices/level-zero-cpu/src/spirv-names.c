#include "spirv-names.h"

#include <spirv/unified1/spirv.h>
#include <stddef.h>

#define WORKS(name)                                                                                                    \
    {                                                                                                                  \
        SpvCapability##name, #name, true, NULL                                                                         \
    }
#define FAILS(name, why)                                                                                               \
    {                                                                                                                  \
        SpvCapability##name, #name, false, why                                                                         \
    }
#define IMAGES "images are not implemented"
#define SHADERS "it is for shaders, and modules here are for kernels"
#define QUEUES "kernels here cannot enqueue kernels"

static const spirv_capability capabilities[] = {
    WORKS(Addresses),
    WORKS(Linkage),
    WORKS(Kernel),
    WORKS(Vector16),
    WORKS(Float16Buffer),
    WORKS(Float16),
    WORKS(Float64),
    WORKS(Int64),
    WORKS(Int64Atomics),
    WORKS(Int16),
    WORKS(Int8),
    WORKS(GenericPointer),
    /* Emulated, see subgroups.h. */
    WORKS(Groups),
    WORKS(SubgroupDispatch),
    WORKS(GroupNonUniform),
    WORKS(GroupNonUniformVote),
    WORKS(GroupNonUniformArithmetic),
    WORKS(GroupNonUniformBallot),
    WORKS(GroupNonUniformShuffle),
    WORKS(GroupNonUniformShuffleRelative),
    WORKS(GroupNonUniformClustered),
    WORKS(SubgroupShuffleINTEL),
    WORKS(SubgroupBufferBlockIOINTEL),
    FAILS(GroupNonUniformQuad, SHADERS),
    FAILS(ImageBasic, IMAGES),
    FAILS(ImageReadWrite, IMAGES),
    FAILS(ImageMipmap, IMAGES),
    FAILS(LiteralSampler, IMAGES),
    FAILS(Sampled1D, IMAGES),
    FAILS(Image1D, IMAGES),
    FAILS(SampledBuffer, IMAGES),
    FAILS(ImageBuffer, IMAGES),
    FAILS(SubgroupImageBlockIOINTEL, IMAGES),
    FAILS(Pipes, "pipes are not implemented"),
    FAILS(PipeStorage, "pipes are not implemented"),
    FAILS(DeviceEnqueue, QUEUES),
    FAILS(NamedBarrier, "named barriers are not implemented"),
    FAILS(Shader, SHADERS),
    FAILS(Geometry, SHADERS),
    FAILS(Tessellation, SHADERS),
    FAILS(VulkanMemoryModel, SHADERS),
    FAILS(VariablePointers, SHADERS),
    FAILS(AtomicFloat32AddEXT, "atomic addition of floats is not implemented"),
    FAILS(AtomicFloat64AddEXT, "atomic addition of floats is not implemented"),
    FAILS(AtomicFloat32MinMaxEXT, "atomic minimum of floats is not implemented"),
    FAILS(AtomicFloat64MinMaxEXT, "atomic minimum of floats is not implemented"),
    FAILS(FunctionPointersINTEL, "pointers to functions are not implemented"),
    FAILS(IndirectReferencesINTEL, "pointers to functions are not implemented"),
    FAILS(AsmINTEL, "assembly of another processor cannot run"),
};

const spirv_capability *spirv_capability_of(uint32_t number)
{
    for (size_t at = 0; at < sizeof capabilities / sizeof *capabilities; at++)
        if (capabilities[at].number == number) return &capabilities[at];
    return NULL;
}

#define BUILTIN(name, components, bits)                                                                                \
    {                                                                                                                  \
        SpvBuiltIn##name, #name, components, bits                                                                      \
    }

static const spirv_builtin builtins[] = {
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
    BUILTIN(SubgroupMaxSize, 1, 32),
    BUILTIN(NumSubgroups, 1, 32),
    BUILTIN(NumEnqueuedSubgroups, 1, 32),
    BUILTIN(SubgroupId, 1, 32),
    BUILTIN(SubgroupLocalInvocationId, 1, 32),
};

const spirv_builtin *spirv_builtin_of(uint32_t number)
{
    for (size_t at = 0; at < sizeof builtins / sizeof *builtins; at++)
        if (builtins[at].number == number) return &builtins[at];
    return NULL;
}
