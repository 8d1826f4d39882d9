/* Events, fences and time-outs, over two queues and between host and device. */
#include "support.h"
#include <pthread.h>

static void close_and_execute(ze_command_queue_handle_t queue, ze_command_list_handle_t list, ze_fence_handle_t fence)
{
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

static void fences_and_timeouts(void)
{
    ze_command_queue_handle_t queue = make_queue();
    ze_fence_handle_t fence = make_fence(queue);
    ze_command_list_handle_t list = make_list();
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    delay_next(200 * MILLISECOND);
    close_and_execute(queue, list, fence);
    EXPECT_RESULT(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    const uint64_t start = now();
    EXPECT_RESULT(zeFenceHostSynchronize(fence, 20 * MILLISECOND), ZE_RESULT_NOT_READY);
    EXPECT(now() - start >= 20 * MILLISECOND);
    EXPECT_RESULT(zeCommandQueueSynchronize(queue, 1), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeFenceDestroy(fence), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandListReset(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandQueueDestroy(queue), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeCommandQueueSynchronize(queue, 0));
    OK(zeFenceQueryStatus(fence));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    OK(zeFenceReset(fence));
    EXPECT_RESULT(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX - 1));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

/* The second queue waits for what the first signals, which waits for the host; others go on meanwhile. */
static void two_queues(ze_event_pool_handle_t pool)
{
    ze_command_queue_handle_t first = make_queue(), second = make_queue(), third = make_queue();
    ze_command_list_handle_t produce = make_list(), consume = make_list(), unrelated = make_list();
    ze_event_handle_t go = make_event(pool, 0), done = make_event(pool, 1);
    uint32_t *memory = make_shared(4096), five = 5, seen = 0;
    OK(zeCommandListAppendMemoryFill(produce, memory, &five, 4, 4, done, 1, &go));
    OK(zeCommandListAppendWaitOnEvents(consume, 1, &done));
    OK(zeCommandListAppendMemoryCopy(consume, &memory[1], &memory[0], 4, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryFill(unrelated, &memory[2], &five, 4, 4, NULL, 0, NULL));
    close_and_execute(second, consume, NULL);
    close_and_execute(first, produce, NULL);
    close_and_execute(third, unrelated, NULL);
    OK(zeCommandQueueSynchronize(third, UINT64_MAX));
    EXPECT(memory[2] == 5);
    EXPECT_RESULT(zeEventHostSynchronize(done, 5 * MILLISECOND), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeCommandQueueSynchronize(second, 5 * MILLISECOND), ZE_RESULT_NOT_READY);
    OK(zeEventHostSignal(go));
    OK(zeCommandQueueSynchronize(second, UINT64_MAX));
    OK(zeEventQueryStatus(done));
    memcpy(&seen, &memory[1], sizeof seen);
    EXPECT(seen == 5);
    OK(zeCommandQueueSynchronize(first, UINT64_MAX));
    OK(zeEventDestroy(go));
    OK(zeEventDestroy(done));
    OK(zeMemFree(context, memory));
    OK(zeCommandListDestroy(produce));
    OK(zeCommandListDestroy(consume));
    OK(zeCommandListDestroy(unrelated));
    OK(zeCommandQueueDestroy(first));
    OK(zeCommandQueueDestroy(second));
    OK(zeCommandQueueDestroy(third));
}

static void events_on_the_device(ze_event_pool_handle_t pool)
{
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_event_handle_t one = make_event(pool, 2), two = make_event(pool, 3);
    uint64_t *times = make_shared(4096);
    ze_kernel_timestamp_result_t result, *written = (void *)(times + 8);
    const size_t offsets[] = {64, 0};
    ze_event_handle_t both[] = {one, two};
    EXPECT_RESULT(zeEventQueryKernelTimestamp(one, &result), ZE_RESULT_NOT_READY);
    OK(zeCommandListAppendSignalEvent(list, one));
    OK(zeCommandListAppendEventReset(list, one));
    OK(zeCommandListAppendWriteGlobalTimestamp(list, &times[0], two, 0, NULL));
    OK(zeCommandListAppendWriteGlobalTimestamp(list, &times[1], one, 1, &two));
    OK(zeCommandListAppendMemoryRangesBarrier(list, 1, &(size_t){64}, &(const void *){times}, NULL, 2, both));
    OK(zeCommandListAppendQueryKernelTimestamps(list, 2, both, written, offsets, NULL, 0, NULL));
    close_and_execute(queue, list, NULL);
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(times[0] > 0 && times[1] >= times[0]);
    OK(zeEventQueryKernelTimestamp(one, &result));
    EXPECT(result.global.kernelStart <= times[1] && result.global.kernelEnd >= times[1]);
    EXPECT(memcmp((char *)written + 64, &result, sizeof result) == 0);
    EXPECT(written->global.kernelEnd >= times[0] && written->global.kernelEnd <= result.global.kernelStart);
    OK(zeEventHostReset(one));
    EXPECT_RESULT(zeEventQueryStatus(one), ZE_RESULT_NOT_READY);
    OK(zeEventDestroy(one));
    OK(zeEventDestroy(two));
    OK(zeMemFree(context, times));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

/* Signalling by the last command is the end of the work: everything may be destroyed at once. */
static void destroy_after_event(ze_event_pool_handle_t pool)
{
    for (int i = 0; i < 200; i++) {
        ze_command_queue_handle_t queue = make_queue();
        ze_command_list_handle_t list = make_list(), immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
        ze_event_handle_t one = make_event(pool, 4), two = make_event(pool, 5);
        OK(zeCommandListAppendBarrier(list, one, 0, NULL));
        close_and_execute(queue, list, NULL);
        OK(zeCommandListAppendBarrier(immediate, two, 1, &one));
        OK(zeEventHostSynchronize(two, UINT64_MAX));
        OK(zeEventHostSynchronize(one, UINT64_MAX));
        OK(zeEventDestroy(one));
        OK(zeEventDestroy(two));
        OK(zeCommandListDestroy(list));
        OK(zeCommandListDestroy(immediate));
        OK(zeCommandQueueDestroy(queue));
    }
}

static void *signal_later(void *event)
{
    struct timespec pause = {.tv_nsec = 20000000};
    nanosleep(&pause, NULL);
    OK(zeEventHostSignal(event));
    return NULL;
}

static void synchronous_modes(ze_event_pool_handle_t pool)
{
    ze_command_queue_handle_t queue = make_queue_of(context, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_command_list_handle_t list = make_list(), immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_handle_t event = make_event(pool, 6);
    pthread_t thread;
    OK(zeCommandListAppendWaitOnEvents(list, 1, &event));
    EXPECT(pthread_create(&thread, NULL, signal_later, event) == 0);
    close_and_execute(queue, list, NULL);
    OK(zeEventQueryStatus(event));
    OK(zeCommandQueueSynchronize(queue, 0));
    pthread_join(thread, NULL);
    OK(zeEventHostReset(event));
    EXPECT(pthread_create(&thread, NULL, signal_later, event) == 0);
    OK(zeCommandListAppendBarrier(immediate, NULL, 1, &event));
    OK(zeEventQueryStatus(event));
    pthread_join(thread, NULL);
    /* Nothing to do for an immediate list, but allowed. */
    OK(zeCommandListClose(immediate));
    OK(zeCommandListReset(immediate));
    OK(zeEventDestroy(event));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

int main(void)
{
    open_device();
    ze_event_pool_handle_t pool = make_pool(8);
    fences_and_timeouts();
    two_queues(pool);
    events_on_the_device(pool);
    destroy_after_event(pool);
    synchronous_modes(pool);
    OK(zeEventPoolDestroy(pool));
    OK(zeContextDestroy(context));
    const live_objects live = count_live();
    EXPECT(live.queues + live.lists + live.fences + live.events + live.event_pools + live.contexts == 0);
    return 0;
}
