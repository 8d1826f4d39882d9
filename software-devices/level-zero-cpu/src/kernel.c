#include "kernel.h"
#include "allocations.h"
#include "faults.h"
#include "settings.h"
#include <stdlib.h>

static void free_kernel(object *freed)
{
    kernel *of = (kernel *)freed;
    engine_release_kernel(of->engine);
    object_drop(&of->module->base);
    free(of->arguments);
    free(of->values);
    free(of);
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

static ze_result_t open_kernel(module *from, engine_kernel *engine, ze_kernel_handle_t *handle)
{
    kernel *made = calloc(1, sizeof *made);
    if (made != NULL) *made = (kernel){.module = from, .engine = engine, .info = engine_info_of(engine)};
    if (made == NULL || !lay_out(made) || !object_open(&made->base, KIND_KERNEL, free_kernel)) {
        if (made != NULL) {
            free(made->arguments);
            free(made->values);
        }
        free(made);
        engine_release_kernel(engine);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    for (int i = 0; i < 3; i++)
        made->group_size[i] = made->info->required_group[i] > 0 ? made->info->required_group[i] : 1;
    adopt(&from->base);
    *handle = HANDLE_OF(ze_kernel_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelCreate(ze_module_handle_t hModule, const ze_kernel_desc_t *desc, ze_kernel_handle_t *phKernel)
{
    HOLD(module, from, hModule, KIND_MODULE);
    if (desc == NULL || phKernel == NULL || desc->pKernelName == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > (ZE_KERNEL_FLAG_FORCE_RESIDENCY | ZE_KERNEL_FLAG_EXPLICIT_RESIDENCY))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    engine_kernel *engine = NULL;
    const ze_result_t result = engine_create_kernel(from->program, desc->pKernelName, &engine);
    return result != ZE_RESULT_SUCCESS ? result : open_kernel(from, engine, phKernel);
}

ze_result_t zeKernelDestroy(ze_kernel_handle_t hKernel)
{
    HOLD(kernel, destroyed, hKernel, KIND_KERNEL);
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->module->base);
    return ZE_RESULT_SUCCESS;
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
    if (declared->kind == ENGINE_LOCAL) {
        if (argSize == 0 || argSize > settings.engine.max_local_bytes)
            return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
        if (pArgValue != NULL) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        argument->local_bytes = (uint32_t)argSize;
        argument->is_set = true;
        return ZE_RESULT_SUCCESS;
    }
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

ze_result_t zeKernelSetGlobalOffsetExp(ze_kernel_handle_t hKernel, uint32_t offsetX, uint32_t offsetY, uint32_t offsetZ)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    of->offset[0] = offsetX;
    of->offset[1] = offsetY;
    of->offset[2] = offsetZ;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetIndirectAccess(ze_kernel_handle_t hKernel, ze_kernel_indirect_access_flags_t flags)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    const ze_kernel_indirect_access_flags_t all = ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE |
                                                  ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED;
    if (flags > all) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    of->indirect_access = flags;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelGetIndirectAccess(ze_kernel_handle_t hKernel, ze_kernel_indirect_access_flags_t *pFlags)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    if (pFlags == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *pFlags = of->indirect_access;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeKernelSetCacheConfig(ze_kernel_handle_t hKernel, ze_cache_config_flags_t flags)
{
    HOLD(kernel, of, hKernel, KIND_KERNEL);
    const ze_cache_config_flags_t all = ZE_CACHE_CONFIG_FLAG_LARGE_SLM | ZE_CACHE_CONFIG_FLAG_LARGE_DATA;
    return flags > all ? ZE_RESULT_ERROR_INVALID_ENUMERATION : ZE_RESULT_SUCCESS;
}
