#include "driver.h"
#include <stdlib.h>

static void release_kernel(object *released)
{
    kernel *of = (kernel *)released;
    engine_release_kernel(of->engine);
    free(of->arguments);
    free(of->values);
}

/* Where the value of each argument is. */
static bool lay_out(kernel *of)
{
    const uint32_t count = of->info->argument_count;
    of->arguments = calloc(count > 0 ? count : 1, sizeof *of->arguments);
    if (of->arguments == NULL) return false;
    for (uint32_t i = 0; i < count; i++) {
        of->arguments[i].offset = of->value_bytes;
        of->value_bytes += (of->info->arguments[i].bytes + 15u) & ~(size_t)15;
    }
    of->values = calloc(1, of->value_bytes > 0 ? of->value_bytes : 1);
    return of->values != NULL;
}

/* Takes over `engine`. */
static ze_result_t open_kernel(module *from, engine_kernel *engine, ze_kernel_handle_t *handle)
{
    kernel *made = object_make(sizeof *made, KIND_KERNEL, &from->base, release_kernel);
    if (made == NULL) {
        engine_release_kernel(engine);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    made->module = from;
    made->engine = engine;
    made->info = engine_info_of(engine);
    for (int i = 0; i < 3; i++)
        made->group_size[i] = made->info->required_group[i] > 0 ? made->info->required_group[i] : 1;
    if (lay_out(made)) return object_open(made, handle);
    object_drop(&made->base);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc, ze_kernel_handle_t *phKernel)
{
    HOLD(module, from, hModule, KIND_MODULE);
    if (desc == NULL || phKernel == NULL || desc->pKernelName == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > (ZE_KERNEL_FLAG_FORCE_RESIDENCY | ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    engine_kernel *engine = NULL;
    TRY(engine_create_kernel(from->program, desc->pKernelName, &engine));
    return open_kernel(from, engine, phKernel);
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    HOLD(kernel, destroyed, hKernel, KIND_KERNEL);
    return object_close(&destroyed->base);
}

static ze_result_t set_pointer(kernel *of, kernel_argument *argument, const void *value)
{
    const char *address = NULL;
    if (value != NULL) memcpy(&address, value, sizeof address);
    if (address != NULL && range_place(of->module->context, address, 1) != PLACE_INSIDE)
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    memcpy(of->values + argument->offset, &address, sizeof address);
    argument->is_set = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetArgumentValue(ze_kernel_handle_t hKernel, uint32_t argIndex, size_t argSize,
                                     const void *pArgValue)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (argIndex >= of->info->argument_count) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    const engine_argument *declared = &of->info->arguments[argIndex];
    kernel_argument *argument = &of->arguments[argIndex];
    if (argSize != declared->bytes) return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    if (declared->kind == ENGINE_POINTER) return set_pointer(of, argument, pArgValue);
    if (pArgValue == NULL) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    memcpy(of->values + argument->offset, pArgValue, argSize);
    argument->is_set = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetGroupSize(ze_kernel_handle_t hKernel, uint32_t groupSizeX, uint32_t groupSizeY,
                                 uint32_t groupSizeZ)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    const uint32_t size[3] = {groupSizeX, groupSizeY, groupSizeZ};
    uint64_t items = 1;
    for (int i = 0; i < 3; i++) {
        const uint32_t required = of->info->required_group[i];
        if (size[i] == 0 || size[i] > settings.engine.max_group_size || (required != 0 && size[i] != required))
            return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
        items *= size[i];
    }
    if (items > settings.engine.max_group_size) return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    memcpy(of->group_size, size, sizeof size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel, ze_kernel_indirect_access_flags_t flags)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    const ze_kernel_indirect_access_flags_t all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    return flags > all ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetProperties(ze_kernel_handle_t hKernel, ze_kernel_properties_t *pKernelProperties)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (pKernelProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const engine_kernel_info *info = of->info;
    ze_kernel_properties_t *to = pKernelProperties;
    const uint32_t subgroup = info->subgroup_size;
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
    memset(&to->uuid, 0, sizeof to->uuid);
    return ZE_RESULT_SUCCESS;
}
