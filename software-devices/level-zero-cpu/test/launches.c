/* Kernels: arguments are copied when they are appended, indirect launches, reset, offsets, immediate lists. */
#include "support.h"

enum { COUNT = 64, GROUP = 8 };
static const ze_group_count_t ALL = {COUNT / GROUP, 1, 1};

static void snapshot_and_reset(ze_kernel_handle_t kernel)
{
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint32_t *a = make_shared(4096), *b = make_shared(4096);
    set_probe(kernel, a, 3, GROUP);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &ALL, NULL, 0, NULL));
    set_probe(kernel, b, 5, 4);
    const ze_group_count_t half = {COUNT / 8, 1, 1};
    OK(zeCommandListAppendLaunchKernel(list, kernel, &half, NULL, 0, NULL));
    set_probe(kernel, b, 99, 1);
    OK(zeCommandListClose(list));
    for (int run = 0; run < 3; run++) {
        memset(a, 0xff, 4096);
        memset(b, 0xff, 4096);
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        EXPECT(is_probed(a, COUNT, 3, GROUP) && is_probed(b, COUNT / 2, 5, 4));
        EXPECT(a[COUNT] == UINT32_MAX && b[COUNT / 2] == UINT32_MAX);
    }
    EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 0, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListReset(list));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    set_probe(kernel, a, 7, GROUP);
    OK(zeCommandListAppendLaunchCooperativeKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){0, 1, 1}, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    ze_command_list_handle_t twice[] = {list, list};
    OK(zeCommandQueueExecuteCommandLists(queue, 2, twice, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(is_probed(a, GROUP, 7, GROUP) && a[GROUP] == GROUP * 3);
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

static void indirect(ze_module_handle_t module, ze_kernel_handle_t kernel)
{
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_kernel_handle_t other = make_kernel(module), both[] = {kernel, other};
    uint32_t *a = make_shared(4096), *b = make_shared(4096), *number = make_shared(4096);
    ze_group_count_t *groups = make_shared(4096);
    set_probe(kernel, a, 2, GROUP);
    set_probe(other, b, 4, GROUP);
    OK(zeCommandListAppendLaunchKernelIndirect(list, kernel, &groups[2], NULL, 0, NULL));
    OK(zeCommandListAppendLaunchMultipleKernelsIndirect(list, 2, both, number, groups, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    for (uint32_t run = 0; run <= 2; run++) {
        memset(a, 0xff, 4096);
        memset(b, 0xff, 4096);
        groups[2] = (ze_group_count_t){1, 1, 1};
        groups[0] = (ze_group_count_t){2, 1, 1};
        groups[1] = (ze_group_count_t){3, 1, 1};
        *number = run;
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
        OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
        const uint32_t a_groups = run >= 1 ? 2 : 1, b_groups = run >= 2 ? 3 : 0;
        EXPECT(is_probed(a, a_groups * GROUP, 2, GROUP) && a[a_groups * GROUP] == UINT32_MAX);
        EXPECT(is_probed(b, b_groups * GROUP, 4, GROUP) && b[b_groups * GROUP] == UINT32_MAX);
    }
    OK(zeKernelDestroy(other));
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
    OK(zeMemFree(context, number));
    OK(zeMemFree(context, groups));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

/* In one list a copy waits for the launch before it, and the next launch for the copy, without a word about it. */
static void in_order(ze_kernel_handle_t kernel)
{
    enum { MANY = 1 << 18 };
    const ze_group_count_t groups = {MANY / GROUP, 1, 1};
    ze_command_list_handle_t list = make_list();
    ze_command_queue_handle_t queue = make_queue();
    uint32_t *a = make_device(MANY * 4), *b = make_shared(MANY * 4), *c = make_shared(MANY * 4);
    set_probe(kernel, a, 3, GROUP);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, b, a, MANY * 4, NULL, 0, NULL));
    set_probe(kernel, a, 5, GROUP);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopy(list, c, a, MANY * 4, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(is_probed(b, MANY, 3, GROUP) && is_probed(c, MANY, 5, GROUP));
    OK(zeMemFree(context, a));
    OK(zeMemFree(context, b));
    OK(zeMemFree(context, c));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

static void immediate(ze_kernel_handle_t kernel, ze_command_queue_mode_t mode)
{
    ze_command_list_handle_t list = make_immediate(mode);
    ze_event_pool_handle_t pool = make_pool(2);
    ze_event_handle_t event = make_event(pool, 0), copied = make_event(pool, 1);
    ze_kernel_timestamp_result_t times;
    uint32_t *memory = make_device(4096), local[COUNT];
    for (uint32_t factor = 1; factor < 20; factor++) {
        set_probe(kernel, memory, factor, GROUP);
        OK(zeCommandListAppendLaunchKernel(list, kernel, &ALL, event, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, local, memory, sizeof local, copied, 1, &event));
        OK(zeEventHostSynchronize(copied, UINT64_MAX));
        EXPECT(is_probed(local, COUNT, factor, GROUP));
        OK(zeEventQueryKernelTimestamp(event, &times));
        EXPECT(times.global.kernelEnd > times.global.kernelStart &&
               times.context.kernelStart == times.global.kernelStart);
        OK(zeEventHostReset(event));
        OK(zeEventHostReset(copied));
    }
    OK(zeEventDestroy(event));
    OK(zeEventDestroy(copied));
    OK(zeEventPoolDestroy(pool));
    OK(zeMemFree(context, memory));
    OK(zeCommandListDestroy(list));
}

static void offsets(ze_kernel_handle_t kernel)
{
    ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *memory = make_shared(4096);
    set_probe(kernel, memory, 3, 4);
    OK(zeKernelSetGlobalOffsetExp(kernel, 100, 0, 0));
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
    OK(zeKernelSetGlobalOffsetExp(kernel, 0, 0, 0));
    EXPECT(memory[0] == 0 && memory[99] == 0 && memory[100] == 300 && memory[103] == 312 && memory[104] == 0);
    OK(zeMemFree(context, memory));
    OK(zeCommandListDestroy(list));
}

/* A recording keeps what it needs: kernel, module and event may be destroyed before it runs. */
static void destroyed_before_execution(const char *path)
{
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    ze_module_handle_t module = make_module(path);
    ze_kernel_handle_t kernel = make_kernel(module);
    uint32_t *memory = make_shared(4096);
    set_probe(kernel, memory, 6, GROUP);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &ALL, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    EXPECT_RESULT(zeModuleDestroy(module), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    EXPECT(is_probed(memory, COUNT, 6, GROUP));
    OK(zeMemFree(context, memory));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
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
    ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint32_t *memory = make_shared(4096);
    size_t bytes = 0;
    char text[4000];
    desc.pInputModule = content;
    OK(zeModuleCreate(context, device, &desc, &module, &log));
    OK(zeModuleBuildLogDestroy(log));
    ze_kernel_handle_t kernel = make_kernel(module);
    set_probe(kernel, memory, 1, 1);
    OK(zeCommandListAppendLaunchKernel(list, kernel, &(ze_group_count_t){2, 1, 1}, NULL, 0, NULL));
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
    OK(zeCommandListDestroy(list));
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    open_device();
    ze_module_handle_t module = make_module(argv[1]);
    ze_kernel_handle_t kernel = make_kernel(module);
    snapshot_and_reset(kernel);
    indirect(module, kernel);
    in_order(kernel);
    offsets(kernel);
    immediate(kernel, ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
    immediate(kernel, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    destroyed_before_execution(argv[1]);
    constants_and_logs(argv[1]);
    EXPECT(count_live().launches > 40 && count_live().copies > 30);
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(context));
    return 0;
}
