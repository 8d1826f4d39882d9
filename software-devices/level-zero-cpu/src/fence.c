#include "fence.h"
#include "faults.h"
#include "monitor.h"
#include <stdlib.h>

static void free_fence(object *freed)
{
    fence *of = (fence *)freed;
    object_drop(&of->queue->base);
    free(of);
}

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue, const ze_fence_desc_t *desc,
                          ze_fence_handle_t *phFence)
{
    HOLD(command_queue, queue, hCommandQueue, KIND_QUEUE);
    if (desc == NULL || phFence == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_FENCE_FLAG_SIGNALED) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    fence *made = calloc(1, sizeof *made);
    if (made != NULL)
        *made = (fence){.queue = queue, .state = desc->flags & ZE_FENCE_FLAG_SIGNALED ? FENCE_SIGNALED : FENCE_RESET};
    if (made == NULL || !object_open(&made->base, KIND_FENCE, free_fence)) {
        free(made);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&queue->base);
    *phFence = HANDLE_OF(ze_fence_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

static bool is_pending(const fence *of)
{
    monitor_enter();
    const bool pending = of->state == FENCE_PENDING;
    monitor_leave();
    return pending && !device_is_lost();
}

ze_result_t zeFenceDestroy(ze_fence_handle_t hFence)
{
    HOLD(fence, destroyed, hFence, KIND_FENCE);
    if (is_pending(destroyed)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->queue->base);
    return ZE_RESULT_SUCCESS;
}

static bool is_signaled(const void *of)
{
    return ((const fence *)of)->state == FENCE_SIGNALED;
}

ze_result_t zeFenceHostSynchronize(ze_fence_handle_t hFence, uint64_t timeout)
{
    HOLD(fence, of, hFence, KIND_FENCE);
    return wait_until(is_signaled, of, timeout);
}

ze_result_t zeFenceQueryStatus(ze_fence_handle_t hFence)
{
    return zeFenceHostSynchronize(hFence, 0);
}

ze_result_t zeFenceReset(ze_fence_handle_t hFence)
{
    HOLD(fence, of, hFence, KIND_FENCE);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (is_pending(of)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    monitor_enter();
    of->state = FENCE_RESET;
    monitor_leave();
    return ZE_RESULT_SUCCESS;
}
