#include "driver.h"

typedef struct {
    object base;
    bool has_times;
    uint32_t count;
} event_pool;

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext, const ze_event_pool_desc_t *desc, uint32_t numDevices,
                              ze_device_handle_t *phDevices, ze_event_pool_handle_t *phEventPool)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (desc == NULL || phEventPool == NULL || (phDevices == NULL && numDevices > 0))
        return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->count == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (desc->flags & ~(ze_event_pool_flags_t)(ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP))
        return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    event_pool *made = object_make(sizeof *made, KIND_EVENT_POOL, &in->base, NULL);
    if (made != NULL) made->count = desc->count;
    if (made != NULL) made->has_times = desc->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    return object_open(made, phEventPool);
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    HOLD(event_pool, destroyed, hEventPool, KIND_EVENT_POOL);
    TRY(may_be_destroyed(&destroyed->base));
    return object_close(&destroyed->base);
}

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    HOLD(event_pool, in, hEventPool, KIND_EVENT_POOL);
    if (desc == NULL || phEvent == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->index >= in->count) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    event *made = object_make(sizeof *made, KIND_EVENT, &in->base, NULL);
    return object_open(made, phEvent);
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent)
{
    HOLD(event, destroyed, hEvent, KIND_EVENT);
    return object_close(&destroyed->base);
}

ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return atomic_load(&of->is_signaled) ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    atomic_store(&of->is_signaled, false);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent, ze_kernel_timestamp_result_t *dstptr)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    if (dstptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (!((const event_pool *)of->base.parent)->has_times) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (!atomic_load(&of->is_signaled)) return ZE_RESULT_NOT_READY;
    dstptr->global = dstptr->context = (ze_kernel_timestamp_data_t){of->start, of->end};
    return ZE_RESULT_SUCCESS;
}
