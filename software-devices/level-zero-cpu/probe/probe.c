/* Starts the driver through the real loader, runs one kernel and prints what the device is: `probe module.spv` */
#include <level_zero/ze_api.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { GROUPS = 4, GROUP_SIZE = 8, FACTOR = 3, ADDEND = 5 };

static void check(const char *call, ze_result_t result)
{
    if (result == ZE_RESULT_SUCCESS) return;
    fprintf(stderr, "%s gives 0x%x\n", call, (unsigned)result);
    exit(1);
}
#define CHECK(call) check(#call, call)

static uint8_t *read_file(const char *path, size_t *bytes)
{
    FILE *file = fopen(path, "rb");
    uint8_t *content = malloc(1 << 16);
    if (file == NULL || content == NULL) check("reading the module", ZE_RESULT_ERROR_UNKNOWN);
    *bytes = fread(content, 1, 1 << 16, file);
    fclose(file);
    return content;
}

static ze_kernel_handle_t build(ze_context_handle_t context, ze_device_handle_t device, const char *path)
{
    const uint32_t addend = ADDEND, id = 7;
    const void *value = &addend;
    const ze_module_constants_t constants = {1, &id, &value};
    ze_module_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_MODULE_DESC, .format = ZE_MODULE_FORMAT_IL_SPIRV};
    desc.pInputModule = read_file(path, &desc.inputSize);
    desc.pConstants = &constants;
    ze_module_handle_t module;
    ze_module_build_log_handle_t log;
    char text[2000] = "";
    size_t bytes = sizeof text;
    const ze_result_t built = zeModuleCreate(context, device, &desc, &module, &log);
    CHECK(zeModuleBuildLogGetString(log, &bytes, text));
    if (built != ZE_RESULT_SUCCESS) fprintf(stderr, "%s\n", text);
    check("zeModuleCreate", built);
    const ze_kernel_desc_t kernel_desc = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "probe"};
    ze_kernel_handle_t kernel;
    CHECK(zeKernelCreate(module, &kernel_desc, &kernel));
    return kernel;
}

static void run(ze_context_handle_t context, ze_device_handle_t device, ze_kernel_handle_t kernel)
{
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    const ze_command_queue_desc_t queue_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC};
    const ze_command_list_desc_t list_desc = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_group_count_t groups = {GROUPS, 1, 1};
    const uint32_t factor = FACTOR;
    uint32_t *out;
    ze_command_queue_handle_t queue;
    ze_command_list_handle_t list;
    CHECK(zeMemAllocHost(context, &host_desc, GROUPS * GROUP_SIZE * sizeof *out, 0, (void **)&out));
    CHECK(zeKernelSetGroupSize(kernel, GROUP_SIZE, 1, 1));
    CHECK(zeKernelSetArgumentValue(kernel, 0, sizeof out, &out));
    CHECK(zeKernelSetArgumentValue(kernel, 1, sizeof factor, &factor));
    CHECK(zeCommandQueueCreate(context, device, &queue_desc, &queue));
    CHECK(zeCommandListCreate(context, device, &list_desc, &list));
    CHECK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
    CHECK(zeCommandListClose(list));
    CHECK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    CHECK(zeCommandQueueSynchronize(queue, UINT64_MAX));
    for (uint32_t i = 0; i < GROUPS * GROUP_SIZE; i++)
        if (out[i] != i * FACTOR + i % GROUP_SIZE + ADDEND) check("the kernel's result", ZE_RESULT_ERROR_UNKNOWN);
}

int main(int argc, char **argv)
{
    uint32_t one = 1;
    ze_driver_handle_t driver;
    ze_device_handle_t device;
    ze_context_handle_t context;
    const ze_context_desc_t context_desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    if (argc != 2) return 2;
    CHECK(zeInit(0));
    CHECK(zeDriverGet(&one, &driver));
    CHECK(zeDeviceGet(driver, &one, &device));
    CHECK(zeDeviceGetProperties(device, &properties));
    CHECK(zeContextCreate(driver, &context_desc, &context));
    run(context, device, build(context, device, argv[1]));
    printf("%s\n", properties.name);
    return 0;
}
