#include "command-list.h"
#include "faults.h"
#include <stdlib.h>

enum { LIST_PIECE = 16 << 10 };

static void free_list(object *freed)
{
    command_list *list = (command_list *)freed;
    if (list->executor != NULL) executor_end(list->executor);
    if (list->recording != NULL) recording_drop(list->recording);
    object_drop(&list->context->base);
    pthread_mutex_destroy(&list->lock);
    free(list);
}

/* Takes over the executor or the recording; both NULL is a lack of memory. */
static ze_result_t open_list(context *in, executor *executor, recording *recording, bool is_synchronous,
                             ze_command_list_handle_t *handle)
{
    command_list *made = calloc(1, sizeof *made);
    if (made != NULL) {
        *made = (command_list){
            .context = in, .executor = executor, .recording = recording, .is_synchronous = is_synchronous};
        pthread_mutex_init(&made->lock, NULL);
    }
    const bool is_whole = made != NULL && (executor != NULL || recording != NULL);
    if (!is_whole || !object_open(&made->base, KIND_LIST, free_list)) {
        if (executor != NULL) executor_end(executor);
        if (recording != NULL) recording_drop(recording);
        free(made);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    adopt(&in->base);
    *handle = HANDLE_OF(ze_command_list_handle_t, made);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                const ze_command_list_desc_t *desc, ze_command_list_handle_t *phCommandList)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (desc == NULL || phCommandList == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_command_list_flags_t flags = ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING |
                                          ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT | ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY;
    if (desc->flags > flags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->commandQueueGroupOrdinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return open_list(in, NULL, recording_create(LIST_PIECE), false, phCommandList);
}

ze_result_t zeCommandListCreateImmediate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                         const ze_command_queue_desc_t *altdesc,
                                         ze_command_list_handle_t *phCommandList)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (altdesc == NULL || phCommandList == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_result_t result = check_queue_desc(altdesc);
    if (result != ZE_RESULT_SUCCESS) return result;
    return open_list(in, executor_create(), NULL, altdesc->mode == ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS, phCommandList);
}

static bool is_in_use(const command_list *list)
{
    if (device_is_lost()) return false;
    return list->executor != NULL ? !executor_is_idle(list->executor) : recording_is_executing(list->recording);
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, destroyed, hCommandList, KIND_LIST);
    pthread_mutex_lock(&destroyed->lock);
    const bool in_use = is_in_use(destroyed);
    pthread_mutex_unlock(&destroyed->lock);
    if (in_use) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    if (!object_close(&destroyed->base)) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    disown(&destroyed->context->base);
    return ZE_RESULT_SUCCESS;
}

/* An immediate list never needs to be closed or reset, so it has nothing to do for either. */
ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, list, hCommandList, KIND_LIST);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (list->executor != NULL) return ZE_RESULT_SUCCESS;
    pthread_mutex_lock(&list->lock);
    const bool was_closed = list->is_closed;
    list->is_closed = true;
    pthread_mutex_unlock(&list->lock);
    return was_closed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

static ze_result_t reset(command_list *list)
{
    if (is_in_use(list)) return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
    recording *empty = recording_create(LIST_PIECE);
    if (empty == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    recording_drop(list->recording);
    list->recording = empty;
    list->is_closed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, list, hCommandList, KIND_LIST);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (list->executor != NULL) return ZE_RESULT_SUCCESS;
    pthread_mutex_lock(&list->lock);
    const ze_result_t result = reset(list);
    pthread_mutex_unlock(&list->lock);
    return result;
}

ze_result_t command_list_recording(command_list *list, const context *context, recording **recording)
{
    if (list->executor != NULL) return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
    ze_result_t result = ZE_RESULT_ERROR_INVALID_ARGUMENT;
    pthread_mutex_lock(&list->lock);
    if (list->is_closed && list->context == context) {
        recording_keep(*recording = list->recording);
        result = ZE_RESULT_SUCCESS;
    }
    pthread_mutex_unlock(&list->lock);
    return result;
}
