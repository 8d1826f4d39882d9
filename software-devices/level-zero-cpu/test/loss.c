/*
 * A device that gets lost, after which the process goes on and ends:
 * `loss delayed|endless|counted|freed|argument|compiling touch.spv`
 */
#include "support.h"
#include <pthread.h>

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;
static ze_fence_handle_t fence;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static void *memory;

static void *lose_later(void *unused)
{
    struct timespec pause = {.tv_nsec = 50000000};
    nanosleep(&pause, NULL);
    lose_device();
    return unused;
}

/* Everything says so at once, and everything can still be destroyed. */
static void check_lost(void)
{
    const uint64_t start = now();
    void *more;
    ze_context_handle_t other;
    ze_command_list_handle_t other_list;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_device_mem_alloc_desc_t memory_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    EXPECT_RESULT(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeFenceQueryStatus(fence), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandQueueSynchronize(queue, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 0, NULL), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandListReset(list), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeMemAllocDevice(context, &memory_desc, 10, 0, device, &more), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeContextCreate(driver, &context_desc, &other), ZE_RESULT_ERROR_DEVICE_LOST);
    EXPECT_RESULT(zeCommandListCreate(context, device, &list_desc, &other_list), ZE_RESULT_ERROR_DEVICE_LOST);
    OK(zeMemFree(context, memory));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeContextDestroy(context));
    EXPECT(now() - start < 2000 * MILLISECOND);
    const live_objects live = count_live();
    EXPECT(live.contexts + live.queues + live.lists + live.fences == 0);
    EXPECT(live.modules + live.kernels + live.allocations + live.allocated_bytes == 0);
    /* A kernel that still runs still has its memory. */
    const struct timespec pause = {.tv_nsec = 100000000};
    nanosleep(&pause, NULL);
}

static void launch(uint32_t groups)
{
    OK(zeKernelSetGroupSize(kernel, 1, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){groups, groups, 1}, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
}

static void wait_for_loss(void)
{
    pthread_t thread;
    EXPECT(pthread_create(&thread, NULL, lose_later, NULL) == 0);
    EXPECT_RESULT(zeFenceHostSynchronize(fence, UINT64_MAX), ZE_RESULT_ERROR_DEVICE_LOST);
    pthread_join(thread, NULL);
}

/* What was registered first is called last: by then LLVM is taken down. */
static void end_slowly(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 500000000}, NULL);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 3);
    if (strcmp(argv[1], "compiling") == 0) atexit(end_slowly);
    open_device();
    queue = make_queue();
    list = make_list();
    fence = make_fence(queue);
    module = make_module(argv[2]);
    kernel = make_kernel(module);
    memory = make_host(4096);
    if (strcmp(argv[1], "delayed") == 0) {
        delay_next(UINT64_C(3600000) * MILLISECOND);
        launch(1);
        wait_for_loss();
    } else if (strcmp(argv[1], "endless") == 0) {
        launch(INT32_MAX);
        /* Until it really runs. */
        while (*(volatile uint32_t *)memory == 0) {
        }
        wait_for_loss();
    } else if (strcmp(argv[1], "counted") == 0) {
        /* LEVEL_ZERO_CPU_LOSE_AFTER=3 */
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
        launch(1);
    } else if (strcmp(argv[1], "compiling") == 0) {
        launch(1);
        while (count_live().launches == 0) {
        }
        lose_device();
        return 0;
    } else if (strcmp(argv[1], "argument") == 0) {
        void *kept = memory;
        memory = make_host(4096);
        OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
        OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
        OK(zeMemFree(context, memory));
        memory = kept;
        launch(1);
    } else {
        void *gone = make_host(4096);
        OK(zeCommandListAppendMemoryCopy(list, memory, gone, 4096, NULL, 0, NULL));
        OK(zeMemFree(context, gone));
        launch(1);
    }
    check_lost();
    return 0;
}
