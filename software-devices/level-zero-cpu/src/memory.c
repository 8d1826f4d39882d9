/* The memory functions of the API. */
#include "allocations.h"
#include "executor.h"
#include "faults.h"
#include "monitor.h"
#include "settings.h"
#include <unistd.h>

enum {
    DEVICE_FLAGS = ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                   ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT,
    HOST_FLAGS = ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                 ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
};
static const size_t MAX_ALIGNMENT = (size_t)1 << 30;

/* True if the chain of extensions of a descriptor lifts the limit of one allocation. */
static bool is_relaxed(const void *next)
{
    for (const ze_base_desc_t *desc = next; desc != NULL; desc = desc->pNext) {
        const ze_relaxed_allocation_limits_exp_desc_t *relaxed = (const void *)desc;
        if (desc->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC &&
            relaxed->flags & ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE)
            return true;
    }
    return false;
}

static ze_result_t check_size(size_t size, size_t alignment, const void *next)
{
    if (size == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    if (size > settings.memory_bytes && !is_relaxed(next)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    return device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t zeMemAllocShared(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t *device_desc,
                             const ze_host_mem_alloc_desc_t *host_desc, size_t size, size_t alignment,
                             ze_device_handle_t hDevice, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    __attribute__((cleanup(object_drop_variable))) device *of = object_acquire(hDevice, KIND_DEVICE);
    if (hDevice != NULL && of == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (device_desc == NULL || host_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_desc->flags > DEVICE_FLAGS || host_desc->flags > HOST_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_desc->ordinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t result = check_size(size, alignment, device_desc->pNext);
    return result != ZE_RESULT_SUCCESS ? result : allocate(in, of, ZE_MEMORY_TYPE_SHARED, size, alignment, pptr);
}

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (device_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_desc->flags > DEVICE_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_desc->ordinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    const ze_result_t result = check_size(size, alignment, device_desc->pNext);
    return result != ZE_RESULT_SUCCESS ? result : allocate(in, of, ZE_MEMORY_TYPE_DEVICE, size, alignment, pptr);
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                           size_t alignment, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (host_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (host_desc->flags > HOST_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    const ze_result_t result = check_size(size, alignment, host_desc->pNext);
    return result != ZE_RESULT_SUCCESS ? result : allocate(in, NULL, ZE_MEMORY_TYPE_HOST, size, alignment, pptr);
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    return ptr == NULL ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : free_allocation(in, ptr);
}

static bool is_all_work_done(const void *ticket)
{
    return oldest_unfinished_ticket_inside() > *(const uint64_t *)ticket;
}

ze_result_t zeMemFreeExt(ze_context_handle_t hContext, const ze_memory_free_ext_desc_t *pMemFreeDesc, void *ptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (pMemFreeDesc == NULL || ptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_driver_memory_free_policy_ext_flags_t policy = pMemFreeDesc->freePolicy;
    if (policy >
        (ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE | ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE))
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (policy & ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE) {
        const uint64_t ticket = newest_ticket();
        /* On a lost device it ends at once, and the memory is freed like any other. */
        wait_until(is_all_work_done, &ticket, UINT64_MAX);
    }
    return free_allocation(in, ptr);
}

ze_result_t zeMemGetAllocProperties(ze_context_handle_t hContext, const void *ptr,
                                    ze_memory_allocation_properties_t *pMemAllocProperties,
                                    ze_device_handle_t *phDevice)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (ptr == NULL || pMemAllocProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    allocation found = {.type = ZE_MEMORY_TYPE_UNKNOWN};
    find_allocation(in, ptr, &found);
    pMemAllocProperties->type = found.type;
    pMemAllocProperties->id = found.id;
    pMemAllocProperties->pageSize = found.type == ZE_MEMORY_TYPE_UNKNOWN ? 0 : (uint64_t)sysconf(_SC_PAGESIZE);
    if (phDevice != NULL) *phDevice = found.device == NULL ? NULL : HANDLE_OF(ze_device_handle_t, found.device);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAddressRange(ze_context_handle_t hContext, const void *ptr, void **pBase, size_t *pSize)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (ptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    allocation found;
    if (!find_allocation(in, ptr, &found)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (pBase != NULL) *pBase = found.base;
    if (pSize != NULL) *pSize = found.bytes;
    return ZE_RESULT_SUCCESS;
}
