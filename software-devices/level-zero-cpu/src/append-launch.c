/* Launches of kernels in command lists. */
#include "allocations.h"
#include "command-list.h"
#include "settings.h"

/* True if a kernel can be launched in a context as it is set. */
static ze_result_t check_kernel(const kernel *launched, const context *context)
{
    const engine_kernel_info *info = launched->info;
    uint64_t local_bytes = info->local_bytes;
    if (launched->module->context != context) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < info->argument_count; i++) {
        const kernel_argument *argument = &launched->arguments[i];
        if (!argument->is_set) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        local_bytes += argument->local_bytes;
        if (info->arguments[i].kind != ENGINE_POINTER) continue;
        const void *address;
        memcpy(&address, launched->values + argument->offset, sizeof address);
        /* It was alive when it was set, but may have been freed since. */
        if (address != NULL && range_place(context, address, 1) != PLACE_INSIDE)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    return local_bytes > settings.engine.max_local_bytes ? ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY : ZE_RESULT_SUCCESS;
}

/* Copies all that the kernel is set to now into the command. */
static ze_result_t snapshot(const appending *to, kernel *launched, launch_command *command)
{
    const uint32_t count = launched->info->argument_count;
    const void **values = recording_take(to->recording, count * sizeof *values);
    uint32_t *local_bytes = recording_take(to->recording, count * sizeof *local_bytes);
    char *copied = recording_take(to->recording, launched->value_bytes);
    if (values == NULL || local_bytes == NULL || copied == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copied, launched->values, launched->value_bytes);
    for (uint32_t i = 0; i < count; i++) {
        values[i] = copied + launched->arguments[i].offset;
        local_bytes[i] = launched->arguments[i].local_bytes;
    }
    engine_launch *launch = &command->launch;
    *launch = (engine_launch){.kernel = launched->engine, .values = values, .local_bytes = local_bytes};
    for (int i = 0; i < 3; i++) {
        launch->group_size[i] = launched->group_size[i];
        launch->offset[i] = launched->offset[i];
    }
    command->kernel = launched;
    return ZE_RESULT_SUCCESS;
}

/* Makes the command that is being appended a launch. */
static ze_result_t note_launch(appending *to, ze_kernel_handle_t handle)
{
    HOLD(kernel, launched, handle, KIND_KERNEL);
    ze_result_t result = check_kernel(launched, to->list->context);
    if (result == ZE_RESULT_SUCCESS) result = snapshot(to, launched, &to->command->launch);
    if (result != ZE_RESULT_SUCCESS) return result;
    object_keep(&launched->base);
    to->command->kind = COMMAND_LAUNCH;
    return ZE_RESULT_SUCCESS;
}

static ze_result_t append_launch(ze_command_list_handle_t list, ze_kernel_handle_t kernel,
                                 const ze_group_count_t *groups, bool is_indirect, ze_event_handle_t signal,
                                 uint32_t wait_count, ze_event_handle_t *waits)
{
    appending to;
    ze_result_t result = append_begin(&to, list, signal, wait_count, waits);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (groups == NULL) return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    result = note_launch(&to, kernel);
    if (result != ZE_RESULT_SUCCESS) return append_fail(&to, result);
    launch_command *launch = &to.command->launch;
    if (is_indirect) {
        if (range_place(to.list->context, groups, sizeof *groups) != PLACE_INSIDE)
            return append_fail(&to, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        launch->indirect_groups = groups;
    } else {
        const uint32_t counts[3] = {groups->groupCountX, groups->groupCountY, groups->groupCountZ};
        for (int i = 0; i < 3; i++)
            if (counts[i] > INT32_MAX) return append_fail(&to, ZE_RESULT_ERROR_INVALID_ARGUMENT);
        memcpy(launch->launch.groups, counts, sizeof counts);
    }
    return append_end(&to);
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
                                            const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent,
                                            uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    return append_launch(hCommandList, hKernel, pLaunchFuncArgs, false, hSignalEvent, numWaitEvents, phWaitEvents);
}

/* Its groups do not run all at the same time beyond zeKernelSuggestMaxCooperativeGroupCount; otherwise a launch. */
ze_result_t zeCommandListAppendLaunchCooperativeKernel(ze_command_list_handle_t hCommandList,
                                                       ze_kernel_handle_t hKernel,
                                                       const ze_group_count_t *pLaunchFuncArgs,
                                                       ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                       ze_event_handle_t *phWaitEvents)
{
    return append_launch(hCommandList, hKernel, pLaunchFuncArgs, false, hSignalEvent, numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendLaunchKernelIndirect(ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
                                                    const ze_group_count_t *pLaunchArgumentsBuffer,
                                                    ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                    ze_event_handle_t *phWaitEvents)
{
    return append_launch(hCommandList, hKernel, pLaunchArgumentsBuffer, true, hSignalEvent, numWaitEvents,
                         phWaitEvents);
}

/* The fault in any of the kernels or buffers, before a list has the first of the launches. */
static ze_result_t check_launches(const context *in, uint32_t count, ze_kernel_handle_t *kernels,
                                  const uint32_t *count_buffer, const ze_group_count_t *groups)
{
    for (uint32_t i = 0; i < count; i++) {
        HOLD(kernel, launched, kernels[i], KIND_KERNEL);
        const ze_result_t result = check_kernel(launched, in);
        if (result != ZE_RESULT_SUCCESS) return result;
    }
    const bool are_inside = range_place(in, count_buffer, sizeof *count_buffer) == PLACE_INSIDE &&
                            range_place(in, groups, count * sizeof *groups) == PLACE_INSIDE;
    return are_inside ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT;
}

ze_result_t zeCommandListAppendLaunchMultipleKernelsIndirect(ze_command_list_handle_t hCommandList, uint32_t numKernels,
                                                             ze_kernel_handle_t *phKernels,
                                                             const uint32_t *pCountBuffer,
                                                             const ze_group_count_t *pLaunchArgumentsBuffer,
                                                             ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                                             ze_event_handle_t *phWaitEvents)
{
    appending to;
    ze_result_t result = append_begin(&to, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (result != ZE_RESULT_SUCCESS) return result;
    if (phKernels == NULL || pCountBuffer == NULL || pLaunchArgumentsBuffer == NULL)
        return append_fail(&to, ZE_RESULT_ERROR_INVALID_NULL_POINTER);
    result = check_launches(to.list->context, numKernels, phKernels, pCountBuffer, pLaunchArgumentsBuffer);
    /* A launch each; the first waits for the events, the last signals. */
    for (uint32_t i = 0; i < numKernels && result == ZE_RESULT_SUCCESS; i++) {
        if (i > 0 && append_another(&to) == NULL) result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
        else result = note_launch(&to, phKernels[i]);
        if (result != ZE_RESULT_SUCCESS) break;
        to.command->launch.indirect_groups = &pLaunchArgumentsBuffer[i];
        to.command->launch.indirect_count = pCountBuffer;
        to.command->launch.index = i;
    }
    return result != ZE_RESULT_SUCCESS ? append_fail(&to, result) : append_end(&to);
}
