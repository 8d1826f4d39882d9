#include "context.h"
#include "device.h"
#include "faults.h"
#include "allocations.h"
#include <stdlib.h>

void adopt(object *parent)
{
    object_keep(parent);
    atomic_fetch_add(&parent->children, 1);
}

void disown(object *parent)
{
    atomic_fetch_sub(&parent->children, 1);
}

ze_result_t may_be_destroyed(object *parent)
{
    const bool in_use = atomic_load(&parent->children) > 0 && !device_is_lost();
    return in_use ? ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE : ZE_RESULT_SUCCESS;
}

static void free_context(object *freed)
{
    free(freed);
}

ze_result_t zeContextCreateEx(ze_driver_handle_t hDriver, const ze_context_desc_t *desc, uint32_t numDevices,
                              ze_device_handle_t *phDevices, ze_context_handle_t *phContext)
{
    HOLD(object, driver, hDriver, KIND_DRIVER);
    if (desc == NULL || phContext == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_CONTEXT_FLAG_TBD) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (phDevices == NULL && numDevices > 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < numDevices; i++) {
        HOLD(device, of, phDevices[i], KIND_DEVICE);
    }
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    context *made = calloc(1, sizeof *made);
    if (made == NULL || !object_open(&made->base, KIND_CONTEXT, free_context)) {
        free(made);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    *phContext = HANDLE_OF(ze_context_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc, ze_context_handle_t *phContext)
{
    return zeContextCreateEx(hDriver, desc, 0, NULL, phContext);
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext)
{
    HOLD(context, destroyed, hContext, KIND_CONTEXT);
    const ze_result_t result = may_be_destroyed(&destroyed->base);
    if (result != ZE_RESULT_SUCCESS) return result;
    return object_close(&destroyed->base) ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
}

ze_result_t zeContextGetStatus(ze_context_handle_t hContext)
{
    HOLD(context, of, hContext, KIND_CONTEXT);
    return device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t zeContextSystemBarrier(ze_context_handle_t hContext, ze_device_handle_t hDevice)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    atomic_thread_fence(memory_order_seq_cst);
    return ZE_RESULT_SUCCESS;
}

/* All memory is resident at all times, so all there is to do is to look at what was given. */
static ze_result_t check_residency(ze_context_handle_t hContext, ze_device_handle_t hDevice, void *ptr, size_t size)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (ptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return range_place(in, ptr, size) == PLACE_INSIDE ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeContextMakeMemoryResident(ze_context_handle_t hContext, ze_device_handle_t hDevice, void *ptr,
                                        size_t size)
{
    return check_residency(hContext, hDevice, ptr, size);
}

ze_result_t zeContextEvictMemory(ze_context_handle_t hContext, ze_device_handle_t hDevice, void *ptr, size_t size)
{
    return check_residency(hContext, hDevice, ptr, size);
}
