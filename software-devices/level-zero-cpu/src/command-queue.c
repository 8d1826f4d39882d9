/* Command queues and fences. */
#include "driver.h"
#include <stdlib.h>

typedef struct {
    object base;
    context *context;
    executor *executor;
    bool is_synchronous;
} command_queue;

static void release_queue(object *released)
{
    executor *ended = ((command_queue *)released)->executor;
    if (ended != NULL) executor_end(ended);
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *phCommandQueue)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (desc == NULL || phCommandQueue == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY ||
        (uint32_t)desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        (uint32_t)desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->ordinal != 0 || desc->index != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    command_queue *made = object_make(sizeof *made, KIND_QUEUE, &in->base, release_queue);
    if (made == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->context = in;
    made->is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    made->executor = executor_create();
    if (made->executor != NULL) return object_open(made, phCommandQueue);
    object_drop(&made->base);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    HOLD(command_queue, destroyed, hCommandQueue, KIND_QUEUE);
    TRY(may_be_destroyed(&destroyed->base));
    if (!executor_is_idle(destroyed->executor) && !device_is_lost()) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    return object_close(&destroyed->base);
}

static ze_result_t execute_lists(command_queue *queue, ze_command_list_handle_t *handles, uint32_t count, fence *fence)
{
    enum { FEW = 16 };
    recording *few[FEW] = {NULL};
    recording **recordings = count <= FEW ? few : calloc(count, sizeof *recordings);
    if (recordings == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t result = ZE_RESULT_SUCCESS;
    for (uint32_t i = 0; i < count && result == ZE_RESULT_SUCCESS; i++)
        result = command_list_recording(handles[i], queue->context, &recordings[i]);
    if (result == ZE_RESULT_SUCCESS) result = executor_submit(queue->executor, recordings, count, fence);
    for (uint32_t i = 0; i < count; i++)
        if (recordings[i] != NULL) recording_drop(recordings[i]);
    if (recordings != few) free(recordings);
    if (result == ZE_RESULT_SUCCESS && queue->is_synchronous) result = executor_wait(queue->executor, UINT64_MAX);
    return result;
}

ze_result_t zeCommandQueueExecuteCommandLists(ze_command_queue_handle_t hCommandQueue, uint32_t numCommandLists,
                                              ze_command_list_handle_t *phCommandLists, ze_fence_handle_t hFence)
{
    HOLD(command_queue, queue, hCommandQueue, KIND_QUEUE);
    __attribute__((cleanup(object_drop_variable))) fence *signaled = object_acquire(hFence, KIND_FENCE);
    if (hFence != NULL && signaled == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (phCommandLists == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (numCommandLists == 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (signaled != NULL && signaled->base.parent != &queue->base)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    return execute_lists(queue, phCommandLists, numCommandLists, signaled);
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue, uint64_t timeout)
{
    HOLD(command_queue, queue, hCommandQueue, KIND_QUEUE);
    return executor_wait(queue->executor, timeout);
}

ze_result_t zeFenceCreate(ze_command_queue_handle_t hCommandQueue, const ze_fence_desc_t *desc,
                          ze_fence_handle_t *phFence)
{
    HOLD(command_queue, queue, hCommandQueue, KIND_QUEUE);
    if (desc == NULL || phFence == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_FENCE_FLAG_SIGNALED) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    fence *made = object_make(sizeof *made, KIND_FENCE, &queue->base, NULL);
    if (made != NULL) made->state = desc->flags & ZE_FENCE_FLAG_SIGNALED ? FENCE_SIGNALED : FENCE_RESET;
    return object_open(made, phFence);
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
    return object_close(&destroyed->base);
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
