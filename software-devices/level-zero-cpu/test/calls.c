/* Properties, and every call with wrong arguments and the code that it must give. `calls probe.spv` */
#include "support.h"

#define NO_HANDLE ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define NO_POINTER ZE_RESULT_ERROR_INVALID_NULL_POINTER
#define BAD_ENUM ZE_RESULT_ERROR_INVALID_ENUMERATION
#define BAD_ARGUMENT ZE_RESULT_ERROR_INVALID_ARGUMENT
#define BAD_SIZE ZE_RESULT_ERROR_INVALID_SIZE
#define UNSUPPORTED ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
#define NO_SYNC ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT
#define IN_USE ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE

/* Invalid handles: none, numbers, a pointer, one of another kind, one destroyed. */
enum { BAD = 6 };
static void *bad_handles[BAD];

/* For each of those. */
#define EACH_BAD(call)                                                                                                 \
    for (int i = 0; i < BAD; i++) {                                                                                    \
        void *bad = bad_handles[i];                                                                                    \
        EXPECT_RESULT(call, NO_HANDLE);                                                                                \
    }

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;
static ze_fence_handle_t fence;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static uint32_t *memory;

static void driver_and_device(void)
{
    ze_api_version_t version;
    ze_driver_properties_t driver_properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_driver_extension_properties_t extensions[2];
    ze_device_properties_t old = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES}, new = old, part = old;
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    ze_device_module_properties_t modules = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    ze_command_queue_group_properties_t group = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    ze_device_memory_properties_t of_memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    ze_device_handle_t parts[2];
    uint32_t count = 0;
    void *function;
    EXPECT_RESULT(zeInit(ZE_INIT_FLAG_GPU_ONLY), ZE_RESULT_ERROR_UNINITIALIZED);
    OK(zeDriverGetApiVersion(driver, &version));
    OK(zeDriverGetProperties(driver, &driver_properties));
    EXPECT(version == ZE_API_VERSION_1_4 && driver_properties.driverVersion == 1 << 24);
    OK(zeDriverGetExtensionProperties(driver, &count, NULL));
    EXPECT(count == 2);
    OK(zeDriverGetExtensionProperties(driver, &count, extensions));
    EXPECT(strcmp(extensions[0].name, ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME) == 0 && extensions[1].version != 0);
    EXPECT_RESULT(zeDriverGetExtensionFunctionAddress(driver, "concordNothing", &function), BAD_ARGUMENT);
    EXPECT_RESULT(zeDriverGetExtensionFunctionAddress(driver, NULL, &function), NO_POINTER);
    new.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    OK(zeDeviceGetProperties(device, &old));
    OK(zeDeviceGetProperties(device, &new));
    EXPECT(old.type == ZE_DEVICE_TYPE_CPU && old.timerResolution == 1 && new.timerResolution == 1000000000);
    EXPECT(strncmp(old.name, "Concord Level Zero CPU (", 24) == 0 && old.maxMemAllocSize > 0);
    /* LEVEL_ZERO_CPU_SUB_DEVICES=2 */
    count = 2;
    OK(zeDeviceGetSubDevices(device, &count, parts));
    for (uint32_t i = 0; i < 2; i++) {
        OK(zeDeviceGetProperties(parts[i], &part));
        EXPECT(part.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE && part.subdeviceId == i);
        EXPECT(memcmp(&part.uuid, &old.uuid, sizeof part.uuid) != 0);
    }
    count = 0;
    OK(zeDeviceGetSubDevices(parts[0], &count, NULL));
    EXPECT(count == 0);
    OK(zeDeviceGetComputeProperties(device, &compute));
    EXPECT(compute.maxTotalGroupSize == 1024 && compute.maxSharedLocalMemory >= 32 << 10);
    EXPECT(compute.numSubGroupSizes == 3 && compute.subGroupSizes[2] == 32 && compute.subGroupSizes[3] == 0);
    OK(zeDeviceGetModuleProperties(device, &modules));
    EXPECT(modules.spirvVersionSupported >= ZE_MAKE_VERSION(1, 2) && modules.fp32flags & ZE_DEVICE_FP_FLAG_FMA);
    EXPECT(((modules.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0) == (modules.fp16flags != 0));
    count = 5;
    OK(zeDeviceGetCommandQueueGroupProperties(device, &count, &group));
    EXPECT(count == 1 && group.maxMemoryFillPatternSize == 128 && group.flags & 1);
    OK(zeDeviceGetMemoryProperties(device, &count, &of_memory));
    EXPECT(of_memory.totalSize > 0);
}

static void creation(void)
{
    ze_context_handle_t made_context;
    ze_command_queue_handle_t made_queue;
    ze_command_list_handle_t made_list;
    ze_fence_handle_t made_fence;
    void *made;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    const ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    EACH_BAD(zeContextCreate(bad, &context_desc, &made_context));
    EXPECT_RESULT(zeContextCreate(driver, NULL, &made_context), NO_POINTER);
    EXPECT_RESULT(zeContextCreate(driver, &context_desc, NULL), NO_POINTER);
    context_desc.flags = 2;
    EXPECT_RESULT(zeContextCreate(driver, &context_desc, &made_context), BAD_ENUM);
    EACH_BAD(zeCommandQueueCreate(bad, device, &queue_desc, &made_queue));
    EACH_BAD(zeCommandQueueCreate(context, bad, &queue_desc, &made_queue));
    EXPECT_RESULT(zeCommandQueueCreate(context, device, NULL, &made_queue), NO_POINTER);
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, NULL), NO_POINTER);
    queue_desc.mode = 3;
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, &made_queue), BAD_ENUM);
    queue_desc.mode = 0;
    queue_desc.ordinal = 1;
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, &made_queue), BAD_ARGUMENT);
    EACH_BAD(zeCommandListCreate(bad, device, &list_desc, &made_list));
    list_desc.flags = 8;
    EXPECT_RESULT(zeCommandListCreate(context, device, &list_desc, &made_list), BAD_ENUM);
    list_desc.flags = 0;
    list_desc.commandQueueGroupOrdinal = 1;
    EXPECT_RESULT(zeCommandListCreate(context, device, &list_desc, &made_list), BAD_ARGUMENT);
    EACH_BAD(zeFenceCreate(bad, &fence_desc, &made_fence));
    fence_desc.flags = 2;
    EXPECT_RESULT(zeFenceCreate(queue, &fence_desc, &made_fence), BAD_ENUM);
    EACH_BAD(zeMemAllocDevice(bad, &device_desc, 1, 0, device, &made));
    EACH_BAD(zeMemAllocDevice(context, &device_desc, 1, 0, bad, &made));
    EACH_BAD(zeMemAllocHost(bad, &host_desc, 1, 0, &made));
    EXPECT_RESULT(zeMemAllocHost(context, NULL, 1, 0, &made), NO_POINTER);
    EXPECT_RESULT(zeMemAllocDevice(context, &device_desc, 0, 0, device, &made), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_RESULT(zeMemAllocDevice(context, &device_desc, SIZE_MAX, 0, device, &made),
                  ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_RESULT(zeMemAllocHost(context, &host_desc, 8, 24, &made), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
}

static void destruction(void)
{
    EACH_BAD(zeContextDestroy(bad));
    EACH_BAD(zeCommandQueueDestroy(bad));
    EACH_BAD(zeCommandListDestroy(bad));
    EACH_BAD(zeFenceDestroy(bad));
    EACH_BAD(zeModuleDestroy(bad));
    EACH_BAD(zeModuleBuildLogDestroy(bad));
    EACH_BAD(zeKernelDestroy(bad));
    EACH_BAD(zeMemFree(bad, memory));
    EXPECT_RESULT(zeMemFree(context, NULL), NO_POINTER);
    EXPECT_RESULT(zeMemFree(context, &queue), BAD_ARGUMENT);
    EXPECT_RESULT(zeMemFree(context, memory + 1), BAD_ARGUMENT);
    /* With what was made from them still alive. */
    EXPECT_RESULT(zeContextDestroy(context), IN_USE);
    EXPECT_RESULT(zeCommandQueueDestroy(queue), IN_USE);
    EXPECT_RESULT(zeModuleDestroy(module), IN_USE);
}

static void modules_and_kernels(const char *path)
{
    ze_module_handle_t made;
    ze_kernel_handle_t made_kernel;
    ze_module_build_log_handle_t log;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "nothing"};
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    uint8_t *content = read_file(path, &desc.inputSize), binary[4096];
    const uint32_t number = 1;
    const float *outside = (const float *)&number;
    size_t bytes;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &made, NULL), NO_POINTER);
    desc.pInputModule = content;
    EACH_BAD(zeModuleCreate(bad, device, &desc, &made, NULL));
    EACH_BAD(zeModuleCreate(context, bad, &desc, &made, NULL));
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &made, &log), ZE_RESULT_ERROR_INVALID_NATIVE_BINARY);
    OK(zeModuleBuildLogGetString(log, &bytes, NULL));
    EXPECT(bytes > 10);
    EXPECT_RESULT(zeModuleBuildLogGetString(log, NULL, NULL), NO_POINTER);
    OK(zeModuleBuildLogDestroy(log));
    desc.format = 2;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &made, NULL), BAD_ENUM);
    desc.format = ZE_MODULE_FORMAT_IL_SPIRV;
    bytes = sizeof binary;
    OK(zeModuleGetNativeBinary(module, &bytes, binary));
    EXPECT(bytes == desc.inputSize && memcmp(binary, content, bytes) == 0);
    desc.inputSize = 0;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &made, NULL), BAD_SIZE);
    free(content);
    EACH_BAD(zeKernelCreate(bad, &kernel_desc, &made_kernel));
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    kernel_desc.pKernelName = NULL;
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), NO_POINTER);
    kernel_desc.pKernelName = "probe";
    kernel_desc.flags = 4;
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), BAD_ENUM);
    OK(zeKernelGetProperties(kernel, &properties));
    EXPECT(properties.numKernelArgs == 2 && properties.requiredGroupSizeX == 0 && properties.localMemSize == 4096);
    EACH_BAD(zeKernelSetArgumentValue(bad, 0, 8, &memory));
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 2, 8, &memory), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 0, 4, &memory), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 0, 8, &outside), BAD_ARGUMENT);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 1, 8, &number), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 1, 4, NULL), BAD_ARGUMENT);
    EACH_BAD(zeKernelSetGroupSize(bad, 1, 1, 1));
    EXPECT_RESULT(zeKernelSetGroupSize(kernel, 0, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    EXPECT_RESULT(zeKernelSetGroupSize(kernel, 64, 64, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    EXPECT_RESULT(zeKernelSetIndirectAccess(kernel, 8), BAD_ENUM);
    OK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_DEVICE));
}

static void commands(void)
{
    const ze_group_count_t groups = {1, 1, 1}, too_many = {UINT32_MAX, 1, 1};
    uint8_t pattern[256] = {0};
    EACH_BAD(zeCommandListAppendBarrier(bad, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 1, NULL), BAD_SIZE);
    for (int i = 1; i < BAD; i++) {
        ze_event_handle_t bad = bad_handles[i];
        EXPECT_RESULT(zeCommandListAppendBarrier(list, bad, 0, NULL), NO_HANDLE);
        EXPECT_RESULT(zeCommandListAppendBarrier(list, NULL, 1, &bad), NO_HANDLE);
    }
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, NULL, memory, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, memory, NULL, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, memory + 1023, pattern, 5, NULL, 0, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, pattern, memory + 1023, 5, NULL, 0, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory, NULL, 4, 4, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory, pattern, 3, 30, NULL, 0, NULL), BAD_SIZE);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory, pattern, 256, 512, NULL, 0, NULL), BAD_SIZE);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, memory + 1023, pattern, 1, 5, NULL, 0, NULL), BAD_ARGUMENT);
    /* Nothing of it is set yet. */
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
    set_probe(kernel, memory, 1, 1);
    EACH_BAD(zeCommandListAppendLaunchKernel(list, bad, &groups, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, NULL, NULL, 0, NULL), NO_POINTER);
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &too_many, NULL, 0, NULL), BAD_ARGUMENT);
    /* Freed since it was set. */
    void *gone = make_host(64);
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof gone, &gone));
    OK(zeMemFree(context, gone));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
}

static void execution_and_waits(void)
{
    ze_command_queue_handle_t other_queue = make_queue();
    ze_command_list_handle_t closed = make_list();
    ze_fence_handle_t other_fence = make_fence(other_queue);
    OK(zeCommandListClose(closed));
    EXPECT_RESULT(zeCommandListClose(closed), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendBarrier(closed, NULL, 0, NULL), BAD_ARGUMENT);
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
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &closed, other_fence), NO_SYNC);
    EACH_BAD(zeFenceHostSynchronize(bad, 0));
    EACH_BAD(zeFenceQueryStatus(bad));
    EACH_BAD(zeFenceReset(bad));
    OK(zeFenceDestroy(other_fence));
    OK(zeCommandListDestroy(closed));
    OK(zeCommandQueueDestroy(other_queue));
}

/* Objects of another context. */
static void foreign_objects(void)
{
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    const ze_group_count_t groups = {1, 1, 1};
    const ze_context_handle_t own = context;
    OK(zeContextCreate(driver, &desc, &context));
    ze_command_list_handle_t elsewhere = make_list();
    EXPECT_RESULT(zeMemFree(context, memory), BAD_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(elsewhere, memory, memory, 4, NULL, 0, NULL), BAD_ARGUMENT);
    OK(zeKernelSetArgumentValue(kernel, 0, sizeof memory, &memory));
    EXPECT_RESULT(zeCommandListAppendLaunchKernel(elsewhere, kernel, &groups, NULL, 0, NULL), BAD_ARGUMENT);
    OK(zeCommandListClose(elsewhere));
    EXPECT_RESULT(zeCommandQueueExecuteCommandLists(queue, 1, &elsewhere, NULL), BAD_ARGUMENT);
    OK(zeCommandListDestroy(elsewhere));
    OK(zeContextDestroy(context));
    context = own;
}

static void events(void)
{
    ze_event_pool_handle_t pool, none;
    ze_event_handle_t event;
    ze_kernel_timestamp_result_t times;
    const ze_group_count_t groups = {4, 1, 1};
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    pool_desc.flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP;
    OK(zeEventPoolCreate(context, &pool_desc, 0, NULL, &pool));
    pool_desc.count = 0;
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 0, NULL, &none), BAD_SIZE);
    pool_desc.count = 1;
    pool_desc.flags = ZE_EVENT_POOL_FLAG_IPC;
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 0, NULL, &none), UNSUPPORTED);
    OK(zeEventCreate(pool, &desc, &event));
    desc.index = 1;
    EXPECT_RESULT(zeEventCreate(pool, &desc, &event), BAD_ARGUMENT);
    EXPECT_RESULT(zeEventPoolDestroy(pool), IN_USE);
    EXPECT_RESULT(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    EXPECT_RESULT(zeEventQueryKernelTimestamp(event, &times), ZE_RESULT_NOT_READY);
    EACH_BAD(zeEventQueryStatus(bad));
    EACH_BAD(zeEventHostReset(bad));
    EACH_BAD(zeEventQueryKernelTimestamp(bad, &times));
    set_probe(kernel, memory, 3, 4);
    for (int i = 1; i < BAD; i++)
        EXPECT_RESULT(zeCommandListAppendLaunchKernel(list, kernel, &groups, bad_handles[i], 0, NULL), NO_HANDLE);
    EXPECT_RESULT(zeCommandListAppendBarrier(list, event, 0, NULL), NO_HANDLE);
    const uint64_t before = now();
    OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, event, 0, NULL));
    delay_next(5 * MILLISECOND);
    run_list(queue, list);
    OK(zeEventQueryStatus(event));
    EXPECT_RESULT(zeEventQueryKernelTimestamp(event, NULL), NO_POINTER);
    OK(zeEventQueryKernelTimestamp(event, &times));
    EXPECT(before <= times.global.kernelStart && times.global.kernelStart < times.global.kernelEnd);
    EXPECT(times.global.kernelEnd <= now() && is_probed(memory, 16, 3, 4));
    OK(zeEventHostReset(event));
    EXPECT_RESULT(zeEventQueryStatus(event), ZE_RESULT_NOT_READY);
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
}

static void not_there(void)
{
    ze_command_list_handle_t immediate;
    ze_image_handle_t image;
    void *made;
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC};
    const ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    EXPECT_RESULT(zeCommandListCreateImmediate(context, device, &queue_desc, &immediate), UNSUPPORTED);
    EXPECT_RESULT(zeMemAllocShared(context, &device_desc, &host_desc, 4, 0, device, &made), UNSUPPORTED);
    EXPECT_RESULT(zeImageCreate(context, device, &image_desc, &image), UNSUPPORTED);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    open_device();
    queue = make_queue();
    list = make_list();
    fence = make_fence(queue);
    module = make_module(argv[1]);
    kernel = make_kernel(module);
    memory = make_host(4096);
    ze_command_list_handle_t destroyed = make_list();
    OK(zeCommandListDestroy(destroyed));
    void *const bad[BAD] = {NULL, (void *)1, (void *)UINTPTR_MAX, &queue, destroyed, (void *)0x10000f0};
    memcpy(bad_handles, bad, sizeof bad);
    driver_and_device();
    creation();
    destruction();
    modules_and_kernels(argv[1]);
    commands();
    execution_and_waits();
    foreign_objects();
    events();
    not_there();
    /* None of all that has left anything behind. */
    OK(zeMemFree(context, memory));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeContextDestroy(context));
    return 0;
}
