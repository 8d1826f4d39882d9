/* Queries of a kernel. */
#include "kernel.h"
#include "settings.h"

ze_result_t zeKernelSuggestGroupSize(ze_kernel_handle_t hKernel, uint32_t globalSizeX, uint32_t globalSizeY,
                                     uint32_t globalSizeZ, uint32_t *groupSizeX, uint32_t *groupSizeY,
                                     uint32_t *groupSizeZ)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (groupSizeX == NULL || groupSizeY == NULL || groupSizeZ == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint32_t global[3] = {globalSizeX, globalSizeY, globalSizeZ};
    uint32_t *const suggested[3] = {groupSizeX, groupSizeY, groupSizeZ};
    uint32_t room = settings.engine.max_group_size;
    for (int i = 0; i < 3; i++) {
        const uint32_t required = of->info->required_group[i];
        if (global[i] == 0 || (required != 0 && global[i] % required != 0))
            return ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION;
        uint32_t size = required;
        /* The largest divisor there is room for, so that groups fill the global size exactly. */
        if (required == 0)
            for (size = room < global[i] ? room : global[i]; global[i] % size != 0;) size--;
        *suggested[i] = size;
        room = room / size > 0 ? room / size : 1;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSuggestMaxCooperativeGroupCount(ze_kernel_handle_t hKernel, uint32_t *totalGroupCount)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (totalGroupCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    /* A worker runs one group to its end, so no more groups than workers ever run at the same time. */
    *totalGroupCount = settings.engine.compute_units;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetSourceAttributes(ze_kernel_handle_t hKernel, uint32_t *pSize, char **pString)
{
    static char none[] = "";
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (pSize == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *pSize = sizeof none;
    if (pString != NULL) *pString = none;
    return ZE_RESULT_SUCCESS;
}

/* FNV-1a, continued from `hash`. */
static uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count)
{
    const uint8_t *each = bytes;
    for (size_t i = 0; i < count; i++) hash = (hash ^ each[i]) * UINT64_C(0x100000001b3);
    return hash;
}

/* The same kernel of the same module has the same identity in every process. */
static ze_kernel_uuid_t identify(const kernel *of)
{
    const uint64_t module_hash = hash_bytes(UINT64_C(0xcbf29ce484222325), of->module->spirv, of->module->spirv_bytes);
    const uint64_t kernel_hash = hash_bytes(module_hash, of->info->name, strlen(of->info->name));
    ze_kernel_uuid_t uuid = {{0}, {0}};
    memcpy(uuid.mid, &module_hash, sizeof module_hash);
    memcpy(uuid.kid, &kernel_hash, sizeof kernel_hash);
    return uuid;
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t hKernel, ze_kernel_properties_t *pKernelProperties)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (pKernelProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const engine_kernel_info *info = of->info;
    ze_kernel_properties_t *to = pKernelProperties;
    const uint32_t subgroup = settings.has_subgroups ? info->subgroup_size : 1;
    to->numKernelArgs = info->argument_count;
    to->requiredGroupSizeX = info->required_group[0];
    to->requiredGroupSizeY = info->required_group[1];
    to->requiredGroupSizeZ = info->required_group[2];
    to->requiredNumSubGroups = 0;
    to->requiredSubgroupSize = 0;
    to->maxSubgroupSize = subgroup;
    to->maxNumSubgroups = subgroup > 0 ? settings.engine.max_group_size / subgroup : 0;
    to->localMemSize = info->local_bytes;
    to->privateMemSize = info->private_bytes;
    to->spillMemSize = 0;
    to->uuid = identify(of);
    for (ze_base_properties_t *next = to->pNext; next != NULL; next = next->pNext)
        if (next->stype == ZE_STRUCTURE_TYPE_KERNEL_PREFERRED_GROUP_SIZE_PROPERTIES)
            ((ze_kernel_preferred_group_size_properties_t *)(void *)next)->preferredMultiple =
                settings.engine.vector_floats;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetName(ze_kernel_handle_t hKernel, size_t *pSize, char *pName)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (pSize == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const size_t bytes = strlen(of->info->name) + 1;
    if (pName != NULL && *pSize > 0) {
        const size_t written = *pSize < bytes ? *pSize : bytes;
        memcpy(pName, of->info->name, written - 1);
        pName[written - 1] = '\0';
    }
    *pSize = bytes;
    return ZE_RESULT_SUCCESS;
}
