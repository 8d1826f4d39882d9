/* The shared parts of the C tests: an open device, a kernel out of probe.spvasm, and checks that say where they fail. */
#ifndef SUPPORT_H
#define SUPPORT_H

#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPECT(condition)                                                                                              \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                                    \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define EXPECT_RESULT(call, expected)                                                                                  \
    do {                                                                                                               \
        const ze_result_t got = (call);                                                                                \
        if (got != (expected)) {                                                                                       \
            fprintf(stderr, "%s:%d: %s gives 0x%x, not %s\n", __FILE__, __LINE__, #call, got, #expected);              \
            exit(1);                                                                                                   \
        }                                                                                                              \
    } while (0)

#define OK(call) EXPECT_RESULT(call, ZE_RESULT_SUCCESS)

/* As in the driver's README. */
typedef struct {
    uint64_t contexts, queues, lists, fences, modules, kernels;
    uint64_t allocations, allocated_bytes, launches, copies;
} live_objects;

static ze_driver_handle_t driver;
static ze_device_handle_t device;
static ze_context_handle_t context;

static const uint64_t MILLISECOND = 1000000;

static inline void open_device(void)
{
    uint32_t one = 1;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    OK(zeInit(0));
    OK(zeDriverGet(&one, &driver));
    OK(zeDeviceGet(driver, &one, &device));
    OK(zeContextCreate(driver, &desc, &context));
}

static inline void *extension(const char *name)
{
    void *function = NULL;
    OK(zeDriverGetExtensionFunctionAddress(driver, name, &function));
    return function;
}

static inline live_objects count_live(void)
{
    live_objects live;
    OK(((ze_result_t(*)(live_objects *))extension("concordGetLiveObjects"))(&live));
    return live;
}

static inline void delay_next(uint64_t nanoseconds)
{
    OK(((ze_result_t(*)(uint64_t))extension("concordDelayNext"))(nanoseconds));
}

static inline void lose_device(void)
{
    OK(((ze_result_t(*)(void))extension("concordLoseDevice"))());
}

static inline uint64_t now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static inline ze_command_queue_handle_t make_queue(void)
{
    ze_command_queue_handle_t queue;
    const ze_command_queue_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                          .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    OK(zeCommandQueueCreate(context, device, &desc, &queue));
    return queue;
}

static inline ze_command_list_handle_t make_list(void)
{
    ze_command_list_handle_t list;
    const ze_command_list_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    OK(zeCommandListCreate(context, device, &desc, &list));
    return list;
}

static inline ze_fence_handle_t make_fence(ze_command_queue_handle_t queue)
{
    ze_fence_handle_t fence;
    const ze_fence_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    OK(zeFenceCreate(queue, &desc, &fence));
    return fence;
}

static inline void *make_host(size_t bytes)
{
    void *memory;
    const ze_host_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocHost(context, &desc, bytes, 0, &memory));
    return memory;
}

static inline void *make_device(size_t bytes)
{
    void *memory;
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    OK(zeMemAllocDevice(context, &desc, bytes, 0, device, &memory));
    return memory;
}

/* Closes a list, executes it and waits for its end; then it is reset. */
static inline void run_list(ze_command_queue_handle_t queue, ze_command_list_handle_t list)
{
    OK(zeCommandListClose(list));
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    OK(zeCommandListReset(list));
}

/* The content of a small file; its size in `bytes`. */
static inline uint8_t *read_file(const char *path, size_t *bytes)
{
    enum { MOST = 1 << 16 };
    uint8_t *content = malloc(MOST);
    FILE *file = fopen(path, "rb");
    EXPECT(content != NULL && file != NULL);
    *bytes = fread(content, 1, MOST, file);
    fclose(file);
    return content;
}

static inline ze_module_handle_t make_module(const char *path)
{
    ze_module_handle_t module;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = ZE_MODULE_FORMAT_IL_SPIRV};
    uint8_t *content = read_file(path, &desc.inputSize);
    desc.pInputModule = content;
    OK(zeModuleCreate(context, device, &desc, &module, NULL));
    free(content);
    return module;
}

static inline ze_kernel_handle_t make_kernel(ze_module_handle_t module)
{
    ze_kernel_handle_t kernel;
    const ze_kernel_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "probe"};
    OK(zeKernelCreate(module, &desc, &kernel));
    return kernel;
}

/* Sets what the probe takes: out[i] = i * factor + local id, with groups of `group_size`. */
static inline void set_probe(ze_kernel_handle_t kernel, void *out, uint32_t factor, uint32_t group_size)
{
    OK(zeKernelSetGroupSize(kernel, group_size, 1, 1));
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    OK(zeKernelSetArgumentValue(kernel, 1, sizeof factor, &factor));
}

static inline bool is_probed(const uint32_t *out, uint32_t count, uint32_t factor, uint32_t group_size)
{
    for (uint32_t i = 0; i < count; i++)
        if (out[i] != i * factor + i % group_size) return false;
    return true;
}

#endif
