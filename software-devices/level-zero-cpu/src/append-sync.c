/* Barriers, events and times in command lists. */
#include "allocations.h"
#include "command-list.h"
#include "device.h"

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList, ze_event_handle_t hSignalEvent,
                                       uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    appending to;
    const ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return result != ZE_RESULT_SUCCESS ? result : append_end(&to);
}

ze_result_t zeCommandListAppendMemoryRangesBarrier(ze_command_list_handle_t hCommandList, uint32_t numRanges,
                                                   const size_t *pRangeSizes, const void **pRanges,
                                                   ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                   ze_event_handle_t *phWaitEvents)
{
    appending to;
    const ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (pRangeSizes == NULL || pRanges == NULL) return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    for (uint32_t i = 0; i < numRanges; i++)
        if (range_place(to.list->context, pRanges[i], pRangeSizes[i]) == PLACE_BROKEN)
            return append_fail(&to, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return append_end(&to);
}

ze_result_t zeCommandListAppendSignalEvent(ze_command_list_handle_t hCommandList, ze_event_handle_t hEvent)
{
    appending to;
    if (hEvent == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    const ze_result_t result = append_begin(&to, hCommandList, hEvent, 0, NULL);
    return result != ZE_RESULT_SUCCESS ? result : append_end(&to);
}

ze_result_t zeCommandListAppendWaitOnEvents(ze_command_list_handle_t hCommandList, uint32_t numEvents,
                                            ze_event_handle_t *phEvents)
{
    appending to;
    if (phEvents == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_result_t result = append_begin(&to, hCommandList, NULL, numEvents, phEvents);
    return result != ZE_RESULT_SUCCESS ? result : append_end(&to);
}

ze_result_t zeCommandListAppendEventReset(ze_command_list_handle_t hCommandList, ze_event_handle_t hEvent)
{
    appending to;
    event **held;
    ze_result_t result = append_begin(&to, hCommandList, NULL, 0, NULL);
    if (result != ZE_RESULT_SUCCESS) return result;
    result = append_events(&to, &hEvent, 1, &held);
    if (result != ZE_RESULT_SUCCESS) return append_fail(&to, result);
    to.command->kind = COMMAND_RESET_EVENT;
    to.command->reset = held[0];
    return append_end(&to);
}

ze_result_t zeCommandListAppendWriteGlobalTimestamp(ze_command_list_handle_t hCommandList, uint64_t *dstptr,
                                                    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                    ze_event_handle_t *phWaitEvents)
{
    appending to;
    ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (dstptr == NULL) return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    if ((uintptr_t)dstptr % sizeof *dstptr != 0) return append_fail(&to, ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    result = append_operand(&to, dstptr, sizeof *dstptr, &to.command->time);
    if (result != ZE_RESULT_SUCCESS) return append_fail(&to, result);
    to.command->kind = COMMAND_WRITE_TIME;
    return append_end(&to);
}

static ze_result_t note_query(appending *to, ze_event_handle_t *events, uint32_t count, void *address,
                              const size_t *offsets)
{
    command *query = to->command;
    ze_result_t result = append_operand(to, address, 1, &query->query.to);
    if (result != ZE_RESULT_SUCCESS) return result;
    for (uint32_t i = 0; i < count; i++) {
        const size_t bytes = sizeof(ze_kernel_timestamp_result_t), offset = offsets != NULL ? offsets[i] : i * bytes;
        const place where = range_place(to->list->context, (char *)address + offset, bytes);
        if (where != (query->query.to.context != NULL ? PLACE_INSIDE : PLACE_OUTSIDE))
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    if (offsets != NULL) {
        size_t *copied = recording_take(to->recording, count * sizeof *copied);
        if (copied == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        query->query.offsets = memcpy(copied, offsets, count * sizeof *copied);
    }
    event **held;
    result = append_events(to, events, count, &held);
    if (result != ZE_RESULT_SUCCESS) return result;
    query->kind = COMMAND_QUERY_TIMES;
    query->query.events = held;
    query->query.count = count;
    for (uint32_t i = 0; i < count; i++)
        if (!event_is_timed(held[i])) return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendQueryKernelTimestamps(ze_command_list_handle_t hCommandList, uint32_t numEvents,
                                                     ze_event_handle_t *phEvents, void *dstptr, const size_t *pOffsets,
                                                     ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents)
{
    appending to;
    ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (phEvents == NULL || dstptr == NULL) return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    result = note_query(&to, phEvents, numEvents, dstptr, pOffsets);
    return result != ZE_RESULT_SUCCESS ? append_fail(&to, result) : append_end(&to);
}
