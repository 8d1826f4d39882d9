/* Objects: every call with wrong arguments, and the code it must give. `errors probe.spv` */
#include "errors.h"

static void creation(void)
{
    ze_context_handle_t made_context;
    ze_command_queue_handle_t made_queue;
    ze_command_list_handle_t made_list;
    ze_event_pool_handle_t made_pool;
    ze_event_handle_t made_event;
    ze_fence_handle_t made_fence;
    void *made;
    ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    ze_event_pool_desc_t pool_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .count = 1};
    ze_event_desc_t event_desc = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC};
    ze_fence_desc_t fence_desc = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    const ze_device_mem_alloc_desc_t device_desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC};
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    EACH_BAD(zeContextCreate(bad, &context_desc, &made_context));
    EXPECT_RESULT(zeContextCreate(driver, NULL, &made_context), NO_POINTER);
    EXPECT_RESULT(zeContextCreate(driver, &context_desc, NULL), NO_POINTER);
    EXPECT_RESULT(zeContextCreateEx(driver, &context_desc, 1, NULL, &made_context), BAD_SIZE);
    context_desc.flags = 2;
    EXPECT_RESULT(zeContextCreate(driver, &context_desc, &made_context), BAD_ENUM);
    EACH_BAD(zeCommandQueueCreate(bad, device, &queue_desc, &made_queue));
    EACH_BAD(zeCommandQueueCreate(context, bad, &queue_desc, &made_queue));
    EXPECT_RESULT(zeCommandQueueCreate(context, device, NULL, &made_queue), NO_POINTER);
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, NULL), NO_POINTER);
    queue_desc.mode = 3;
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, &made_queue), BAD_ENUM);
    EXPECT_RESULT(zeCommandListCreateImmediate(context, device, &queue_desc, &made_list), BAD_ENUM);
    queue_desc.mode = 0;
    queue_desc.ordinal = 1;
    EXPECT_RESULT(zeCommandQueueCreate(context, device, &queue_desc, &made_queue), BAD_ARGUMENT);
    EACH_BAD(zeCommandListCreate(bad, device, &list_desc, &made_list));
    EACH_BAD(zeCommandListCreateImmediate(context, bad, &queue_desc, &made_list));
    list_desc.flags = 8;
    EXPECT_RESULT(zeCommandListCreate(context, device, &list_desc, &made_list), BAD_ENUM);
    list_desc.flags = 0;
    list_desc.commandQueueGroupOrdinal = 1;
    EXPECT_RESULT(zeCommandListCreate(context, device, &list_desc, &made_list), BAD_ARGUMENT);
    EACH_BAD(zeEventPoolCreate(bad, &pool_desc, 0, NULL, &made_pool));
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 1, NULL, &made_pool), BAD_SIZE);
    pool_desc.flags = ZE_EVENT_POOL_FLAG_IPC;
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 0, NULL, &made_pool), UNSUPPORTED);
    pool_desc.flags = 8;
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 0, NULL, &made_pool), BAD_ENUM);
    pool_desc.flags = 0;
    pool_desc.count = 0;
    EXPECT_RESULT(zeEventPoolCreate(context, &pool_desc, 0, NULL, &made_pool), BAD_SIZE);
    EACH_BAD(zeEventCreate(bad, &event_desc, &made_event));
    EXPECT_RESULT(zeEventCreate(pool, &event_desc, &made_event), BAD_ARGUMENT); /* taken */
    event_desc.index = 2;
    EXPECT_RESULT(zeEventCreate(pool, &event_desc, &made_event), BAD_ARGUMENT); /* beyond the pool */
    event_desc.signal = 8;
    EXPECT_RESULT(zeEventCreate(pool, &event_desc, &made_event), BAD_ENUM);
    EACH_BAD(zeFenceCreate(bad, &fence_desc, &made_fence));
    fence_desc.flags = 2;
    EXPECT_RESULT(zeFenceCreate(queue, &fence_desc, &made_fence), BAD_ENUM);
    EACH_BAD(zeMemAllocDevice(bad, &device_desc, 1, 0, device, &made));
    EACH_BAD(zeMemAllocDevice(context, &device_desc, 1, 0, bad, &made));
    EACH_BAD(zeMemAllocHost(bad, &host_desc, 1, 0, &made));
    EACH_BAD(zeMemAllocShared(bad, &device_desc, &host_desc, 1, 0, NULL, &made));
    EXPECT_RESULT(zeMemAllocShared(context, NULL, &host_desc, 1, 0, NULL, &made), NO_POINTER);
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
    EACH_BAD(zeEventPoolDestroy(bad));
    EACH_BAD(zeEventDestroy(bad));
    EACH_BAD(zeFenceDestroy(bad));
    EACH_BAD(zeModuleDestroy(bad));
    EACH_BAD(zeModuleBuildLogDestroy(bad));
    EACH_BAD(zeKernelDestroy(bad));
    EACH_BAD(zeMemFree(bad, memory));
    EXPECT_RESULT(zeMemFree(context, NULL), NO_POINTER);
    EXPECT_RESULT(zeMemFree(context, &queue), BAD_ARGUMENT);
    /* With what was made from them still alive. */
    EXPECT_RESULT(zeContextDestroy(context), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeCommandQueueDestroy(queue), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeEventPoolDestroy(pool), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
    EXPECT_RESULT(zeModuleDestroy(module), ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
}

static void modules_and_kernels(const char *path)
{
    ze_module_handle_t made;
    ze_kernel_handle_t made_kernel;
    ze_module_build_log_handle_t log;
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC};
    ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "nothing"};
    uint8_t *content = read_file(path, &desc.inputSize);
    const uint32_t number = 1;
    const float *outside = (const float *)&number;
    size_t bytes;
    void *pointer;
    uint32_t x;
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
    desc.inputSize = 0;
    EXPECT_RESULT(zeModuleCreate(context, device, &desc, &made, NULL), BAD_SIZE);
    free(content);
    EXPECT_RESULT(zeModuleDynamicLink(1, &module, NULL), ZE_RESULT_ERROR_MODULE_LINK_FAILURE);
    EXPECT_RESULT(zeModuleGetGlobalPointer(module, "a", &bytes, &pointer), UNSUPPORTED);
    EXPECT_RESULT(zeModuleGetFunctionPointer(module, "a", &pointer), UNSUPPORTED);
    EACH_BAD(zeKernelCreate(bad, &kernel_desc, &made_kernel));
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), ZE_RESULT_ERROR_INVALID_KERNEL_NAME);
    kernel_desc.pKernelName = NULL;
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), NO_POINTER);
    kernel_desc.pKernelName = "probe";
    kernel_desc.flags = 4;
    EXPECT_RESULT(zeKernelCreate(module, &kernel_desc, &made_kernel), BAD_ENUM);
    EACH_BAD(zeKernelSetArgumentValue(bad, 0, 8, &memory));
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 3, 8, &memory), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 0, 4, &memory), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 0, 8, &outside), BAD_ARGUMENT);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 1, 8, &number), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 1, 4, NULL), BAD_ARGUMENT);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 2, 4, &number), BAD_ARGUMENT);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 2, 0, NULL), ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EXPECT_RESULT(zeKernelSetArgumentValue(kernel, 2, (size_t)1 << 40, NULL),
                  ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE);
    EACH_BAD(zeKernelSetGroupSize(bad, 1, 1, 1));
    EXPECT_RESULT(zeKernelSetGroupSize(kernel, 0, 1, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    EXPECT_RESULT(zeKernelSetGroupSize(kernel, 64, 64, 1), ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION);
    EXPECT_RESULT(zeKernelSuggestGroupSize(kernel, 0, 1, 1, &x, &x, &x),
                  ZE_RESULT_ERROR_INVALID_GLOBAL_WIDTH_DIMENSION);
    EXPECT_RESULT(zeKernelSetIndirectAccess(kernel, 8), BAD_ENUM);
    EXPECT_RESULT(zeKernelSetCacheConfig(kernel, 4), BAD_ENUM);
    EXPECT_RESULT(zeKernelGetName(kernel, NULL, NULL), NO_POINTER);
}

static void not_there(void)
{
    ze_image_handle_t image;
    ze_sampler_handle_t sampler;
    ze_ipc_mem_handle_t ipc;
    ze_ipc_event_pool_handle_t ipc_pool;
    void *function;
    const ze_image_desc_t image_desc = {.stype = ZE_STRUCTURE_TYPE_IMAGE_DESC};
    const ze_sampler_desc_t sampler_desc = {.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC};
    EXPECT_RESULT(zeImageCreate(context, device, &image_desc, &image), UNSUPPORTED);
    EXPECT_RESULT(zeSamplerCreate(context, device, &sampler_desc, &sampler), UNSUPPORTED);
    EXPECT_RESULT(zeMemGetIpcHandle(context, memory, &ipc), UNSUPPORTED);
    EXPECT_RESULT(zeEventPoolGetIpcHandle(pool, &ipc_pool), UNSUPPORTED);
    EXPECT_RESULT(zeDriverGetExtensionFunctionAddress(driver, "concordNothing", &function), BAD_ARGUMENT);
    EXPECT_RESULT(zeDriverGetExtensionFunctionAddress(driver, NULL, &function), NO_POINTER);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    open_all(argv[1]);
    creation();
    destruction();
    modules_and_kernels(argv[1]);
    not_there();
    close_all();
    return 0;
}
