#include "allocations.h"
#include "command-list.h"
#include "faults.h"

/* Room for one command with a few arguments, so that an immediate command is one piece of memory. */
enum { IMMEDIATE_PIECE = 768 };

static ze_result_t open_recording(appending *to)
{
    command_list *list = to->list;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (list->is_closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    to->recording = list->executor != NULL ? recording_create(IMMEDIATE_PIECE) : list->recording;
    if (to->recording == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    to->command = recording_take(to->recording, sizeof *to->command);
    return to->command == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
}

static ze_result_t hold_event(const appending *to, ze_event_handle_t handle, event **held)
{
    HOLD(event, of, handle, KIND_EVENT);
    if (of->pool->context != to->list->context) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    object_keep(&of->base);
    *held = of;
    return ZE_RESULT_SUCCESS;
}

ze_result_t append_events(appending *to, ze_event_handle_t *handles, uint32_t count, event ***events)
{
    event **held = recording_take(to->recording, count * sizeof *held);
    ze_result_t result = held == NULL ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_SUCCESS;
    uint32_t i = 0;
    while (i < count && result == ZE_RESULT_SUCCESS) {
        result = hold_event(to, handles[i], &held[i]);
        if (result == ZE_RESULT_SUCCESS) i++;
    }
    if (result == ZE_RESULT_SUCCESS) *events = held;
    else
        while (i > 0) object_drop(&held[--i]->base);
    return result;
}

ze_result_t append_begin(appending *to, ze_command_list_handle_t list, ze_event_handle_t signal, uint32_t wait_count,
                         ze_event_handle_t *waits)
{
    *to = (appending){.list = object_acquire(list, KIND_LIST)};
    if (to->list == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    pthread_mutex_lock(&to->list->lock);
    if (waits == NULL && wait_count > 0) return append_fail(to, ZE_RESULT_ERROR_INVALID_SIZE);
    ze_result_t result = open_recording(to);
    if (result == ZE_RESULT_SUCCESS && signal != NULL) result = hold_event(to, signal, &to->command->signal);
    if (result == ZE_RESULT_SUCCESS && wait_count > 0) {
        result = append_events(to, waits, wait_count, &to->command->waits);
        if (result == ZE_RESULT_SUCCESS) to->command->wait_count = wait_count;
    }
    return result == ZE_RESULT_SUCCESS ? result : append_fail(to, result);
}

command *append_another(appending *to)
{
    command *another = recording_take(to->recording, sizeof *another);
    if (another == NULL) return NULL;
    another->signal = to->command->signal;
    to->command->signal = NULL;
    recording_add(to->recording, to->command);
    to->command = another;
    return another;
}

ze_result_t append_fail(appending *to, ze_result_t result)
{
    if (to->command != NULL) command_drop(to->command);
    if (to->recording != NULL && to->list->executor != NULL) recording_drop(to->recording);
    pthread_mutex_unlock(&to->list->lock);
    object_drop(&to->list->base);
    return result;
}

ze_result_t append_end(appending *to)
{
    command_list *list = to->list;
    ze_result_t result = ZE_RESULT_SUCCESS;
    recording_add(to->recording, to->command);
    if (list->executor != NULL) {
        result = executor_submit(list->executor, &to->recording, 1, NULL);
        recording_drop(to->recording);
    }
    pthread_mutex_unlock(&list->lock);
    if (result == ZE_RESULT_SUCCESS && list->executor != NULL && list->is_synchronous)
        result = executor_wait(list->executor, UINT64_MAX);
    object_drop(&list->base);
    return result;
}

ze_result_t append_operand(const appending *to, const void *address, size_t bytes, operand *noted)
{
    const place where = range_place(to->list->context, address, bytes);
    if (where == PLACE_BROKEN) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *noted = (operand){(char *)(uintptr_t)address, where == PLACE_INSIDE ? to->list->context : NULL};
    return ZE_RESULT_SUCCESS;
}
