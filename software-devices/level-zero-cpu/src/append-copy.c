/* Copies and fills in command lists, and advice about memory. */
#include "allocations.h"
#include "command-list.h"
#include "copies.h"
#include "device.h"
#include "faults.h"

static ze_result_t append_copy(appending *to, void *target, const context *source_context, const void *source,
                               size_t bytes)
{
    if (target == NULL || source == NULL) return append_fail(to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    command *copy = to->command;
    ze_result_t result = append_operand(to, target, bytes, &copy->copy.to);
    if (result != ZE_RESULT_SUCCESS) return append_fail(to, result);
    const place where = range_place(source_context, source, bytes);
    if (where == PLACE_BROKEN) return append_fail(to, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    copy->copy.from = (operand){(char *)(uintptr_t)source, where == PLACE_INSIDE ? source_context : NULL};
    copy->kind = COMMAND_COPY;
    copy->copy.bytes = bytes;
    return append_end(to);
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr,
                                          size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents)
{
    appending to;
    const ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return result != ZE_RESULT_SUCCESS ? result : append_copy(&to, dstptr, to.list->context, srcptr, size);
}

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t hCommandList, void *dstptr,
                                                     ze_context_handle_t hContextSrc, const void *srcptr, size_t size,
                                                     ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                     ze_event_handle_t *phWaitEvents)
{
    appending to;
    HOLD(context, source, hContextSrc, KIND_CONTEXT);
    const ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return result != ZE_RESULT_SUCCESS ? result : append_copy(&to, dstptr, source, srcptr, size);
}

static ze_result_t note_fill(appending *to, void *target, const void *pattern, size_t pattern_bytes, size_t bytes)
{
    command *fill = to->command;
    if (target == NULL || pattern == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pattern_bytes == 0 || pattern_bytes > MAX_FILL_PATTERN_BYTES || (pattern_bytes & (pattern_bytes - 1)) != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    const ze_result_t result = append_operand(to, target, bytes, &fill->fill.to);
    if (result != ZE_RESULT_SUCCESS) return result;
    fill->fill.pattern = recording_take(to->recording, pattern_bytes);
    if (fill->fill.pattern == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(fill->fill.pattern, pattern, pattern_bytes);
    fill->fill.pattern_bytes = pattern_bytes;
    fill->fill.bytes = bytes;
    fill->kind = COMMAND_FILL;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList, void *ptr, const void *pattern,
                                          size_t pattern_size, size_t size, ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    appending to;
    ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    result = note_fill(&to, ptr, pattern, pattern_size, size);
    return result != ZE_RESULT_SUCCESS ? append_fail(&to, result) : append_end(&to);
}

/* A depth of 0 is a copy of one slice, and a pitch of 0 is one with nothing between the rows or slices. */
static ze_result_t note_box(const appending *to, const void *address, const ze_copy_region_t *region, uint32_t pitch,
                            uint32_t slice_pitch, box *noted)
{
    const size_t row = pitch != 0 ? pitch : region->width;
    const size_t slice = slice_pitch != 0 ? slice_pitch : row * region->height;
    const size_t depth = region->depth != 0 ? region->depth : 1;
    if (row < region->width || (depth > 1 && slice < row * region->height)) return ZE_RESULT_ERROR_INVALID_SIZE;
    *noted = (box){.offset = region->originZ * slice + region->originY * row + region->originX,
                   .row_pitch = row,
                   .slice_pitch = slice};
    return append_operand(to, address, box_bytes(noted, region->width, region->height, depth), &noted->memory);
}

ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t hCommandList, void *dstptr,
                                                const ze_copy_region_t *dstRegion, uint32_t dstPitch,
                                                uint32_t dstSlicePitch, const void *srcptr,
                                                const ze_copy_region_t *srcRegion, uint32_t srcPitch,
                                                uint32_t srcSlicePitch, ze_event_handle_t hSignalEvent,
                                                uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    appending to;
    ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (dstptr == NULL || srcptr == NULL || dstRegion == NULL || srcRegion == NULL)
        return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    if (dstRegion->width != srcRegion->width || dstRegion->height != srcRegion->height ||
        dstRegion->depth != srcRegion->depth)
        return append_fail(&to, ZE_RESULT_ERROR_INVALID_SIZE);
    command *copy = to.command;
    copy->region.width = srcRegion->width;
    copy->region.height = srcRegion->height;
    copy->region.depth = srcRegion->depth != 0 ? srcRegion->depth : 1;
    result = note_box(&to, dstptr, dstRegion, dstPitch, dstSlicePitch, &copy->region.to);
    if (result == ZE_RESULT_SUCCESS)
        result = note_box(&to, srcptr, srcRegion, srcPitch, srcSlicePitch, &copy->region.from);
    if (result != ZE_RESULT_SUCCESS) return append_fail(&to, result);
    if (boxes_overlap(&copy->region.to, &copy->region.from, copy->region.width, copy->region.height,
                      copy->region.depth))
        return append_fail(&to, ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    copy->kind = COMMAND_COPY_REGION;
    return append_end(&to);
}

/* All memory is equally near, so advice about it is looked at and otherwise ignored. */
static ze_result_t append_advice(ze_command_list_handle_t list, const void *address, size_t bytes)
{
    appending to;
    const ze_result_t result = append_begin(&to, list, NULL, 0, NULL);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (address == NULL) return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    if (range_place(to.list->context, address, bytes) != PLACE_INSIDE)
        return append_fail(&to, ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return append_end(&to);
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList, const void *ptr, size_t size)
{
    return append_advice(hCommandList, ptr, size);
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList, ze_device_handle_t hDevice,
                                         const void *ptr, size_t size, ze_memory_advice_t advice)
{
    HOLD(device, on, hDevice, KIND_DEVICE);
    if ((uint32_t)advice > ZE_MEMORY_ADVICE_BIAS_UNCACHED) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    return append_advice(hCommandList, ptr, size);
}
