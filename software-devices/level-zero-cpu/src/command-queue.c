#include "command-queue.h"
#include "command-list.h"
#include "faults.h"
#include "fence.h"
#include "monitor.h"
#include <stdlib.h>

ze_result_t check_queue_desc(const ze_command_queue_desc_t *desc)
{
    if (desc->flags > ZE_COMMAND_QUEUE_FLAG_EXPLICIT_ONLY ||
        (uint32_t)desc->mode > ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS ||
        (uint32_t)desc->priority > ZE_COMMAND_QUEUE_PRIORITY_PRIORITY_HIGH)
        return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->ordinal != 0 || desc->index != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    return device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

static void free_queue(object *freed)
{
    command_queue *queue = (command_queue *)freed;
    executor_end(queue->executor);
    object_drop(&queue->context->base);
    free(queue);
}

ze_result_t zeCommandQueueCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                 const ze_command_queue_desc_t *desc, ze_command_queue_handle_t *phCommandQueue)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (desc == NULL || phCommandQueue == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_result_t result = check_queue_desc(desc);
    if (result != ZE_RESULT_SUCCESS) return result;
    command_queue *made = calloc(1, sizeof *made);
    executor *executor = executor_create();
    if (made != NULL && executor != NULL)
        *made = (command_queue){
            .context = in, .executor = executor, .is_synchronous = desc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS};
    if (made == NULL || executor == NULL || !object_open(&made->base, KIND_QUEUE, free_queue)) {
        if (executor != NULL) executor_end(executor);
        free(made);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&in->base);
    *phCommandQueue = HANDLE_OF(ze_command_queue_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandQueueDestroy(ze_command_queue_handle_t hCommandQueue)
{
    HOLD(command_queue, destroyed, hCommandQueue, KIND_QUEUE);
    const ze_result_t result = may_be_destroyed(&destroyed->base);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (!executor_is_idle(destroyed->executor) && !device_is_lost()) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->context->base);
    return ZE_RESULT_SUCCESS;
}

/* The recordings of lists, kept, or what is wrong with one of the lists. `recordings` has NULLs. */
static ze_result_t gather(const command_queue *queue, ze_command_list_handle_t *handles, uint32_t count,
                          recording **recordings)
{
    for (uint32_t i = 0; i < count; i++) {
        HOLD(command_list, list, handles[i], KIND_LIST);
        const ze_result_t result = command_list_recording(list, queue->context, &recordings[i]);
        if (result != ZE_RESULT_SUCCESS) return result;
    }
    return ZE_RESULT_SUCCESS;
}

static ze_result_t execute_lists(command_queue *queue, ze_command_list_handle_t *handles, uint32_t count, fence *fence)
{
    enum { FEW = 16 };
    recording *few[FEW] = {NULL};
    recording **recordings = count <= FEW ? few : calloc(count, sizeof *recordings);
    if (recordings == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    ze_result_t result = gather(queue, handles, count, recordings);
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
    if (signaled != NULL && signaled->queue != queue) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    return execute_lists(queue, phCommandLists, numCommandLists, signaled);
}

ze_result_t zeCommandQueueSynchronize(ze_command_queue_handle_t hCommandQueue, uint64_t timeout)
{
    HOLD(command_queue, queue, hCommandQueue, KIND_QUEUE);
    return executor_wait(queue->executor, timeout);
}
