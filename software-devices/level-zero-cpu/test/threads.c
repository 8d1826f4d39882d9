/* Many threads at once: each with its own lists on a shared queue, sharing events' pool and memory's accounting. */
#include "support.h"
#include <pthread.h>

enum { THREADS = 8, ROUNDS = 60, COUNT = 32 };
static ze_module_handle_t module;
static ze_command_queue_handle_t queue;
static ze_event_pool_handle_t pool;

static void *work(void *number)
{
    const uint32_t me = (uint32_t)(uintptr_t)number;
    ze_kernel_handle_t kernel = make_kernel(module);
    ze_event_handle_t launched = make_event(pool, 2 * me), copied = make_event(pool, 2 * me + 1);
    ze_command_list_handle_t list = make_list(), immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t *memory = make_shared(4096), local[COUNT];
        set_probe(kernel, memory, round + me, 8);
        OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){COUNT / 8, 1, 1}, launched, 0, NULL));
        OK(zeCommandListClose(list));
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        OK(zeCommandListAppendWaitOnEvents(immediate, 1, &launched));
        OK(zeCommandListAppendEventReset(immediate, launched));
        OK(zeCommandListAppendMemoryCopy(immediate, local, memory, sizeof local, copied, 0, NULL));
        OK(zeEventHostSynchronize(copied, UINT64_MAX));
        OK(zeEventHostReset(copied));
        EXPECT(is_probed(local, COUNT, round + me, 8));
        OK(zeCommandListReset(list));
        OK(zeMemFree(context, memory));
    }
    OK(zeKernelDestroy(kernel));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(immediate));
    OK(zeEventDestroy(launched));
    OK(zeEventDestroy(copied));
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    EXPECT(argc == 2);
    open_device();
    module = make_module(argv[1]);
    queue = make_queue();
    pool = make_pool(2 * THREADS);
    for (uintptr_t i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandQueueDestroy(queue));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(context));
    return 0;
}
