/* The memory functions of the API. */
#include "allocations.h"
#include "device.h"
#include "faults.h"
#include "settings.h"

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

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (device_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_desc->flags > DEVICE_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_desc->ordinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    TRY(check_size(size, alignment, device_desc->pNext));
    return allocate(in, false, size, alignment, pptr);
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                           size_t alignment, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (host_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (host_desc->flags > HOST_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    TRY(check_size(size, alignment, host_desc->pNext));
    return allocate(in, true, size, alignment, pptr);
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    return ptr == NULL ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : free_allocation(in, ptr);
}
