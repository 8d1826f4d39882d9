/* Commands and waits: every call with wrong arguments, and the code it must give. `command-errors probe.spv` */
#include "errors.h"

static void commands(void)
{
    const ze_group_count_t groups = {1, 1, 1}, too_many = {UINT32_MAX, 1, 1};
    void *outside = &queue;
    ze_event_handle_t plain = make_event(pool, 1);
    EACH_BAD(zeCommandListAppendBarrier(bad, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 1, NULL), BAD_SIZE);
    for (int i = 1; i < BAD; i++) {
        ze_event_handle_t bad = bad_handles[i];
        EXPECT_RESULT(zeCommandListAppendBarrier(list, bad, 0, NULL), NO_HANDLE);
        EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 1, &bad), NO_HANDLE);
        EXPECT_RESULT(zeCommandListAppendEventReset(list, bad), NO_HANDLE);
    }
    /* References that were taken before the bad one are released: the sanitizer would find it. */
    for (int i = 0; i < BAD; i++) {
        ze_event_handle_t mixed[] = {event, plain, bad_handles[i]};
        EXPECT_RESULT(zeCommandListAppendBarrier(list, event, 3, mixed), NO_HANDLE);
    }
    EXPECT_RESULT(zeCommandListAppendSignalEvent(list, NULL), NO_HANDLE);
    EXPECT_RESULT(zeCommandListAppendWaitOnEvents(list, 1, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, NULL, memory, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, memory, NULL, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory, NULL, 4, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryCopyRegion(list, memory, NULL, 0, 0, memory, NULL, 0, 0, NULL, 0, NULL),
                  NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemAdvise(list, device, memory, 4, 99), BAD_ENUM);
    EXPECT_RESULT(zeCommandListAppendMemoryRangesBarrier(list, 1, NULL, NULL, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendWriteGlobalTimestamp(list, NULL, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendQueryKernelTimestamps(list, 1, &plain, NULL, NULL, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendQueryKernelTimestamps(list, 1, &plain, memory, &(size_t){8192}, NULL, 0, NULL),
                  BAD_ARGUMENT);
    /* Nothing of it is set yet. */
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
    set_probe(kernel, memory, 1, 1);
    EACH_BAD(zeCommandListAppendLaunchKernel(list, bad, &groups, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, NULL, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &too_many, NULL, 0, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendLaunchKernelIndirect(list, kernel, outside, NULL, 0, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 1, &kernel, outside, &groups, NULL, 0, NULL),
                  BAD_ARGUMENT);
    /* Freed since it was set. */
    void *gone = make_shared(64);
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof gone, &gone));
    OK(zeMemFree(context, gone));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
    OK(zeEventDestroy(plain));
}

static void execution_and_waits(void)
{
    ze_command_queue_handle_t other_queue = make_queue();
    ze_command_list_handle_t closed = make_list(), immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_fence_handle_t other_fence = make_fence(other_queue);
    ze_kernel_timestamp_result_t times;
    OK(zeCommandListClose(closed));
    EXPECT_RESULT(zeCommandListClose(closed), BAD_ARGUMENT);
    EACH_BAD(zeCommandListClose(bad));
    EACH_BAD(zeCommandListReset(bad));
    EACH_BAD(zeCommandQueueExecuteCommandLists(bad, 1, &closed, NULL));
    EACH_BAD(zeCommandQueueSynchronize(bad, 0));
    for (int i = 0; i < BAD; i++) {
        ze_command_list_handle_t bad = bad_handles[i];
        EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &bad, NULL), NO_HANDLE);
        if (i > 0) EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &closed, bad_handles[i]), NO_HANDLE);
    }
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, NULL, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 0, &closed, NULL), BAD_SIZE);
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), BAD_ARGUMENT); /* open */
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &immediate, NULL),
                  ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE);
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &closed, other_fence), NO_SYNC);
    EACH_BAD(zeFenceHostSynchronize(bad, 0));
    EACH_BAD(zeFenceQueryStatus(bad));
    EACH_BAD(zeFenceReset(bad));
    EACH_BAD(zeEventHostSynchronize(bad, 0));
    EACH_BAD(zeEventHostSignal(bad));
    EACH_BAD(zeEventHostReset(bad));
    EACH_BAD(zeEventQueryStatus(bad));
    EACH_BAD(zeEventQueryKernelTimestamp(bad, &times));
    EXPECT_RESULT(zeEventQueryKernelTimestamp(event, NULL), NO_POINTER);
    OK(zeFenceDestroy(other_fence));
    OK(zeCommandListDestroy(closed));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandQueueDestroy(other_queue));
}

/* An event that only the device sees, and objects of another context. */
static void foreign_objects(void)
{
    ze_event_pool_handle_t hidden_pool;
    ze_event_handle_t hidden;
    const ze_event_pool_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_group_count_t groups = {1, 1, 1};
    const ze_context_handle_t own = context;
    ze_kernel_timestamp_result_t times;
    OK(zeEventPoolCreate(context, &desc, 0, NULL, &hidden_pool));
    hidden = make_event(hidden_pool, 0);
    EXPECT_RESULT(zeEventHostSynchronize(hidden, 0), NO_SYNC);
    EXPECT_RESULT(zeEventHostSignal(hidden), NO_SYNC);
    EXPECT_RESULT(zeEventQueryKernelTimestamp(hidden, &times), NO_SYNC);
    EXPECT_RESULT(zeCommandListAppendQueryKernelTimestamps(list, 1, &hidden, memory, NULL, NULL, 0, NULL), NO_SYNC);
    OK(zeCommandListAppendBarrier(list, hidden, 0, NULL));
    OK(zeEventDestroy(hidden));
    OK(zeEventPoolDestroy(hidden_pool));
    OK(zeContextCreate(driver, &context_desc, &context));
    ze_command_list_handle_t elsewhere = make_list();
    EXPECT_RESULT(zeCommandListAppendBarrier(elsewhere, event, 0, NULL), NO_SYNC);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(elsewhere, memory, memory, 4, NULL, 0, NULL), BAD_ARGUMENT);
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(elsewhere, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
    OK(zeCommandListClose(elsewhere));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &elsewhere, NULL), BAD_ARGUMENT);
    OK(zeCommandListDestroy(elsewhere));
    OK(zeContextDestroy(context));
    context = own;
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    open_all(argv[1]);
    commands();
    execution_and_waits();
    foreign_objects();
    close_all();
    return 0;
}
