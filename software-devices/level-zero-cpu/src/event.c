#include "event.h"
#include "device.h"
#include "faults.h"
#include "monitor.h"
#include <stdlib.h>

enum {
    POOL_FLAGS = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP,
    SCOPES = ZE_EVENT_SCOPE_FLAG_SUBDEVICE | ZE_EVENT_SCOPE_FLAG_DEVICE | ZE_EVENT_SCOPE_FLAG_HOST
};

static void free_pool(object *freed)
{
    event_pool *pool = (event_pool *)freed;
    object_drop(&pool->context->base);
    free(pool->taken);
    free(pool);
}

static ze_result_t open_pool(context *in, const ze_event_pool_desc_t *desc, ze_event_pool_handle_t *handle)
{
    event_pool *made = calloc(1, sizeof *made);
    bool *taken = calloc(desc->count, sizeof *taken);
    if (made != NULL) *made = (event_pool){.context = in, .flags = desc->flags, .count = desc->count, .taken = taken};
    if (made == NULL || taken == NULL || !object_open(&made->base, KIND_EVENT_POOL, free_pool)) {
        free(made);
        free(taken);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&in->base);
    *handle = HANDLE_OF(ze_event_pool_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventPoolCreate(ze_context_handle_t hContext, const ze_event_pool_desc_t *desc, uint32_t numDevices,
                              ze_device_handle_t *phDevices, ze_event_pool_handle_t *phEventPool)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (desc == NULL || phEventPool == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > POOL_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->count == 0 || (phDevices == NULL && numDevices > 0)) return ZE_RESULT_ERROR_INVALID_SIZE;
    for (uint32_t i = 0; i < numDevices; i++) {
        HOLD(device, of, phDevices[i], KIND_DEVICE);
    }
    if (desc->flags & ZE_EVENT_POOL_FLAG_IPC) return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return open_pool(in, desc, phEventPool);
}

ze_result_t zeEventPoolDestroy(ze_event_pool_handle_t hEventPool)
{
    HOLD(event_pool, destroyed, hEventPool, KIND_EVENT_POOL);
    const ze_result_t result = may_be_destroyed(&destroyed->base);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->context->base);
    return ZE_RESULT_SUCCESS;
}

static void free_event(object *freed)
{
    event *of = (event *)freed;
    object_drop(&of->pool->base);
    free(of);
}

/* Takes or gives back a place in the pool. False where it was taken already. */
static bool take(event_pool *pool, uint32_t index, bool taken)
{
    monitor_enter();
    const bool changed = pool->taken[index] != taken;
    pool->taken[index] = taken;
    monitor_leave();
    return changed;
}

ze_result_t zeEventCreate(ze_event_pool_handle_t hEventPool, const ze_event_desc_t *desc, ze_event_handle_t *phEvent)
{
    HOLD(event_pool, pool, hEventPool, KIND_EVENT_POOL);
    if (desc == NULL || phEvent == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->signal > SCOPES || desc->wait > SCOPES) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (desc->index >= pool->count || !take(pool, desc->index, true)) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    event *made = calloc(1, sizeof *made);
    if (made != NULL) *made = (event){.pool = pool, .index = desc->index};
    if (made == NULL || !object_open(&made->base, KIND_EVENT, free_event)) {
        free(made);
        take(pool, desc->index, false);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&pool->base);
    *phEvent = HANDLE_OF(ze_event_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventDestroy(ze_event_handle_t hEvent)
{
    HOLD(event, destroyed, hEvent, KIND_EVENT);
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    take(destroyed->pool, destroyed->index, false);
    disown(&destroyed->pool->base);
    return ZE_RESULT_SUCCESS;
}

void event_signal(event *of, uint64_t start)
{
    of->start = start;
    of->end = now_ns();
    of->is_signaled = true;
    monitor_notify();
}

ze_kernel_timestamp_result_t event_times(const event *of)
{
    const ze_kernel_timestamp_data_t times = {of->start, of->end};
    return (ze_kernel_timestamp_result_t){times, times};
}

/* The checks that every host function of an event makes first. */
static ze_result_t check_host_use(const event *of)
{
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    const bool is_visible = (of->pool->flags & ZE_EVENT_POOL_FLAG_HOST_VISIBLE) != 0;
    return is_visible ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
}

ze_result_t zeEventHostSignal(ze_event_handle_t hEvent)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    const ze_result_t result = check_host_use(of);
    if (result != ZE_RESULT_SUCCESS) return result;
    monitor_enter();
    event_signal(of, now_ns());
    monitor_leave();
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeEventHostReset(ze_event_handle_t hEvent)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    const ze_result_t result = check_host_use(of);
    if (result != ZE_RESULT_SUCCESS) return result;
    monitor_enter();
    of->is_signaled = false;
    monitor_leave();
    return ZE_RESULT_SUCCESS;
}

static bool is_signaled(const void *of)
{
    return ((const event *)of)->is_signaled;
}

ze_result_t zeEventHostSynchronize(ze_event_handle_t hEvent, uint64_t timeout)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    const ze_result_t result = check_host_use(of);
    return result != ZE_RESULT_SUCCESS ? result : wait_until(is_signaled, of, timeout);
}

ze_result_t zeEventQueryStatus(ze_event_handle_t hEvent)
{
    return zeEventHostSynchronize(hEvent, 0);
}

ze_result_t zeEventQueryKernelTimestamp(ze_event_handle_t hEvent, ze_kernel_timestamp_result_t *dstptr)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    if (dstptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (!event_is_timed(of)) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    monitor_enter();
    const bool known = of->is_signaled;
    if (known) *dstptr = event_times(of);
    monitor_leave();
    return known ? ZE_RESULT_SUCCESS : ZE_RESULT_NOT_READY;
}

ze_result_t zeEventQueryTimestampsExp(ze_event_handle_t hEvent, ze_device_handle_t hDevice, uint32_t *pCount,
                                      ze_kernel_timestamp_result_t *pTimestamps)
{
    HOLD(event, of, hEvent, KIND_EVENT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return items_to_write(pCount, 1, pTimestamps) > 0 ? zeEventQueryKernelTimestamp(hEvent, pTimestamps)
                                                      : ZE_RESULT_SUCCESS;
}
