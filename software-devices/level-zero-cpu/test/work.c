/* Launches, copies, fills, memory and waits. LEVEL_ZERO_CPU_MEMORY has to be 64 MiB. `work probe.spv` */
#include "support.h"

enum { COUNT = 64, GROUP = 8 };
static const size_t MIB = 1 << 20;
static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;

static void launch(ze_kernel_handle_t kernel, uint32_t groups)
{
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){groups, 1, 1}, NULL, 0, NULL));
}

/* Arguments are copied when they are appended, and a closed list may be executed again. */
static void snapshots(ze_kernel_handle_t kernel)
{
    uint32_t *a = make_host(4096), *b = make_host(4096);
    set_probe(kernel, a, 3, GROUP);
    launch(kernel, COUNT / GROUP);
    set_probe(kernel, b, 5, 4);
    launch(kernel, COUNT / 8);
    launch(kernel, 0);
    set_probe(kernel, b, 99, 1);
    OK(zeCommandListClose(list));
    for (int run = 0; run < 3; run++) {
        ze_command_list_handle_t twice[] = {list, list};
        memset(a, 0xff, 4096);
        memset(b, 0xff, 4096);
        OK(zeCommandQueueExecuteCommandLists(queue, 2, twice, NULL));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        EXPECT(is_probed(a, COUNT, 3, GROUP) && is_probed(b, COUNT / 2, 5, 4));
        EXPECT(a[COUNT] == UINT32_MAX && b[COUNT / 2] == UINT32_MAX);
    }
    OK(zeCommandListReset(list));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
}

/* In one list a copy waits for the launch before it, and the next launch for the copy, without a word about it. */
static void in_order(ze_kernel_handle_t kernel)
{
    enum { MANY = 1 << 18 };
    uint32_t *a = make_device(MANY * 4), *b = make_host(MANY * 4), *c = make_host(MANY * 4);
    set_probe(kernel, a, 3, GROUP);
    launch(kernel, MANY / GROUP);
    OK(zeCommandListAppendMemoryCopy(list, b, a, MANY * 4, NULL, 0, NULL));
    set_probe(kernel, a, 5, GROUP);
    launch(kernel, MANY / GROUP);
    OK(zeCommandListAppendMemoryCopy(list, c, a, MANY * 4, NULL, 0, NULL));
    run_list(queue, list);
    EXPECT(is_probed(b, MANY, 3, GROUP) && is_probed(c, MANY, 5, GROUP));
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
    OK(zeMemFree(context, c));
}

/* A recording keeps what it needs: kernel and module may be destroyed before it runs. */
static void destroyed_before_execution(const char *path)
{
    ze_module_handle_t module = make_module(path);
    ze_kernel_handle_t kernel = make_kernel(module);
    uint32_t *memory = make_host(4096);
    set_probe(kernel, memory, 6, GROUP);
    launch(kernel, COUNT / GROUP);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    run_list(queue, list);
    EXPECT(is_probed(memory, COUNT, 6, GROUP));
    OK(zeMemFree(context, memory));
}

static void accounting(void)
{
    const ze_relaxed_allocation_limits_exp_desc_t relaxed = {.stype =
                                                                 ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                                             .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    void *first, *second;
    EXPECT_RESULT(zeMemAllocDevice(context, &desc, 65 * MIB, 0, device, &first), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    desc.pNext = &relaxed;
    EXPECT_RESULT(zeMemAllocDevice(context, &desc, 65 * MIB, 0, device, &first),
                  ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    first = make_device(64 * MIB);
    EXPECT_RESULT(zeMemAllocDevice(context, &desc, 1, 0, device, &second), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    /* Host memory is not the device's. */
    second = make_host(32 * MIB);
    EXPECT(count_live().allocations == 2 && count_live().allocated_bytes == 96 * MIB);
    OK(zeMemFree(context, first));
    OK(zeMemFree(context, second));
    EXPECT_RESULT(zeMemFree(context, second), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT(count_live().allocations == 0 && count_live().allocated_bytes == 0);
    for (size_t alignment = 1; alignment <= 8 * MIB; alignment *= 2) {
        OK(zeMemAllocDevice(context, &desc, 100, alignment, device, &first));
        EXPECT((uintptr_t)first % alignment == 0 && (uintptr_t)first % 4096 == 0);
        memset(first, 1, 100);
        OK(zeMemFree(context, first));
    }
}

static void copies_and_fills(void)
{
    uint8_t *memory = make_device(MIB), *other = make_host(MIB), local[1000], pattern[128];
    for (size_t i = 0; i < sizeof local; i++) local[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (uint8_t)(i + 1);
    OK(zeCommandListAppendMemoryCopy(list, memory + 1, local, 1000, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, other, memory, 1001, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, memory, memory, 0, NULL, 0, NULL));
    run_list(queue, list);
    EXPECT(memcmp(other + 1, local, 1000) == 0);
    for (size_t bytes = 1; bytes <= 128; bytes *= 2) {
        const size_t sizes[] = {1, 127, 4096, 300001};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            memset(other, 0, MIB);
            OK(zeCommandListAppendMemoryFill(list, other, pattern, bytes, sizes[s], NULL, 0, NULL));
            run_list(queue, list);
            for (size_t i = 0; i < sizes[s]; i++) EXPECT(other[i] == pattern[i % bytes]);
            EXPECT(other[sizes[s]] == 0);
        }
    }
    OK(zeMemFree(context, memory));
    OK(zeMemFree(context, other));
}

/* Time-outs, and what is refused while work runs; memory that it uses may be freed, and goes away afterwards. */
static void while_work_runs(void)
{
    ze_fence_handle_t fence = make_fence(queue);
    uint8_t *to = make_device(16 * MIB), *from = make_device(16 * MIB);
    OK(zeCommandListAppendMemoryCopy(list, to, from, 16 * MIB, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    delay_next(200 * MILLISECOND);
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    EXPECT_RESULT(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    const uint64_t start = now();
    EXPECT_RESULT(zeFenceHostSynchronize(fence, 20 * MILLISECOND), ZE_RESULT_NOT_READY);
    EXPECT(now() - start >= 20 * MILLISECOND);
    EXPECT_RESULT(zeCommandQueueSynchronize(queue, 1), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeFenceDestroy(fence), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeFenceReset(fence), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandListDestroy(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandListReset(list), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zeFenceHostSynchronize(fence, UINT64_MAX));
    OK(zeCommandQueueSynchronize(queue, 0));
    OK(zeFenceQueryStatus(fence));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence),
                  ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT);
    OK(zeFenceReset(fence));
    EXPECT_RESULT(zeFenceQueryStatus(fence), ZE_RESULT_NOT_READY);
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
    OK(zeFenceHostSynchronize(fence, UINT64_MAX - 1));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListReset(list));
    OK(zeMemFree(context, from));
    OK(zeMemFree(context, to));
}

/* Queues run beside each other. */
static void two_queues(void)
{
    ze_command_queue_handle_t other = make_queue();
    ze_command_list_handle_t late = make_list();
    OK(zeCommandListAppendBarrier(late, NULL, 0, NULL));
    OK(zeCommandListAppendBarrier(list, NULL, 0, NULL));
    OK(zeCommandListClose(late));
    delay_next(1000 * MILLISECOND);
    OK(zeCommandQueueExecuteCommandLists(other, 1, &late, NULL));
    const struct timespec pause = {.tv_nsec = 50000000};
    nanosleep(&pause, NULL);
    run_list(queue, list);
    EXPECT_RESULT(zeCommandQueueSynchronize(other, 0), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeCommandQueueDestroy(other), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zeCommandQueueSynchronize(other, UINT64_MAX));
    OK(zeCommandListDestroy(late));
    OK(zeCommandQueueDestroy(other));
}

static void constants_and_logs(const char *path)
{
    const uint32_t ids[] = {7, 1234}, addend = 1000;
    const void *values[] = {&addend, &addend};
    const ze_module_constants_t constants = {2, ids, values};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .pConstants = &constants};
    uint8_t *content = read_file(path, &desc.inputSize);
    ze_module_handle_t module;
    ze_module_build_log_handle_t log;
    uint32_t *memory = make_host(4096);
    size_t bytes = 0;
    char text[4000];
    desc.pInputModule = content;
    OK(zeModuleCreate(context, device, &desc, &module, &log));
    OK(zeModuleBuildLogDestroy(log));
    ze_kernel_handle_t kernel = make_kernel(module);
    set_probe(kernel, memory, 1, 1);
    launch(kernel, 2);
    run_list(queue, list);
    EXPECT(memory[0] == 1000 && memory[1] == 1001 && memory[2] == 0);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    content[20] ^= 0xff;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &module, &log), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    OK(zeModuleBuildLogGetString(log, &bytes, NULL));
    EXPECT(bytes > 1 && bytes <= sizeof text);
    OK(zeModuleBuildLogGetString(log, &bytes, text));
    EXPECT(strlen(text) + 1 == bytes);
    OK(zeModuleBuildLogDestroy(log));
    free(content);
    OK(zeMemFree(context, memory));
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    open_device();
    queue = make_queue();
    list = make_list();
    ze_module_handle_t module = make_module(argv[1]);
    ze_kernel_handle_t kernel = make_kernel(module);
    snapshots(kernel);
    in_order(kernel);
    destroyed_before_execution(argv[1]);
    accounting();
    copies_and_fills();
    while_work_runs();
    two_queues();
    constants_and_logs(argv[1]);
    EXPECT(count_live().launches > 20 && count_live().copies > 30);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeContextDestroy(context));
    return 0;
}
