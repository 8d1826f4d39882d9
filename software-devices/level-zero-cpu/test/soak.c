/* 10,000 launches and 1,000 of each object leave nothing behind. `soak probe.spv` */
#include "support.h"
#include <unistd.h>

static long resident_bytes(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file != NULL && fscanf(file, "%ld %ld", &total, &resident) == 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

static void make_one_of_each(ze_module_handle_t module, int round)
{
    const ze_group_count_t groups = {1, 1, 1};
    ze_command_queue_handle_t queue = make_queue();
    ze_fence_handle_t fence = make_fence(queue);
    ze_command_list_handle_t list = make_list(), immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    ze_event_pool_handle_t pool = make_pool(1);
    ze_event_handle_t event = make_event(pool, 0);
    ze_kernel_handle_t kernel = make_kernel(module);
    uint32_t *memory = make_shared(100000);
    memset(memory, round, 100000);
    set_probe(kernel, memory, (uint32_t)round, 4);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeCommandListAppendMemoryCopy(immediate, memory + 10, memory, 16, NULL, 1, &event));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    EXPECT(is_probed(memory, 4, (uint32_t)round, 4) && is_probed(memory + 10, 4, (uint32_t)round, 4));
    OK(zeMemFree(context, memory));
    OK(zeKernelDestroy(kernel));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandListDestroy(list));
    OK(zeFenceDestroy(fence));
    OK(zeCommandQueueDestroy(queue));
}

static void launch_many(ze_kernel_handle_t kernel, int count)
{
    const ze_group_count_t groups = {1, 1, 1};
    ze_command_list_handle_t immediate = make_immediate(ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    ze_command_queue_handle_t queue = make_queue();
    ze_event_pool_handle_t pool = make_pool(1);
    ze_event_handle_t done = make_event(pool, 0);
    ze_command_list_handle_t list = make_list();
    for (int i = 0; i < count / 2; i++) OK(zeCommandListAppendLaunchKernel(immediate, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(immediate, done, 0, NULL));
    for (int batch = 0; batch < 5; batch++) {
        for (int i = 0; i < count / 10; i++) OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        OK(zeCommandListClose(list));
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        OK(zeCommandListReset(list));
    }
    OK(zeEventHostSynchronize(done, UINT64_MAX));
    OK(zeEventDestroy(done));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    OK(zeCommandListDestroy(immediate));
    OK(zeCommandQueueDestroy(queue));
}

int main(int argc, char **argv)
{
    enum { ROUNDS = 1000, LAUNCHES = 10000, WARM_UP = 100 };
    EXPECT(argc == 2);
    open_device();
    ze_module_handle_t module = make_module(argv[1]);
    ze_kernel_handle_t kernel = make_kernel(module);
    uint32_t *memory = make_shared(4096);
    set_probe(kernel, memory, 3, 4);
    for (int i = 0; i < WARM_UP; i++) make_one_of_each(module, i);
    launch_many(kernel, LAUNCHES);
    const live_objects before = count_live();
    const long resident = resident_bytes();
    for (int i = 0; i < ROUNDS; i++) make_one_of_each(module, i);
    launch_many(kernel, LAUNCHES);
    const long growth = resident_bytes() - resident;
    const live_objects after = count_live();
    EXPECT(after.launches - before.launches == LAUNCHES + ROUNDS && after.copies - before.copies == ROUNDS);
    for (int i = 0; i < 50; i++) {
        ze_module_handle_t again = make_module(argv[1]);
        OK(zeModuleDestroy(again));
    }
    OK(zeMemFree(context, memory));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(context));
    live_objects end = count_live();
    end.launches = end.copies = 0;
    const live_objects none = {0};
    EXPECT(memcmp(&end, &none, sizeof none) == 0);
    printf("%ld\n", growth);
    return 0;
}
