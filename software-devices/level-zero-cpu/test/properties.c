/* The properties of the driver, the device, modules and kernels. `properties probe.spv [SUB_DEVICES] [none]` */
#include "support.h"

static void driver_properties(void)
{
    ze_api_version_t version;
    ze_driver_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES};
    ze_driver_ipc_properties_t ipc = {.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES, .flags = 99};
    uint32_t drivers = 0, extensions = 0;
    OK(zeDriverGet(&drivers, NULL));
    EXPECT(drivers == 1);
    OK(zeDriverGetApiVersion(driver, &version));
    EXPECT(version == ZE_API_VERSION_1_4);
    OK(zeDriverGetProperties(driver, &properties));
    EXPECT(properties.driverVersion == 1 << 24);
    OK(zeDriverGetIpcProperties(driver, &ipc));
    EXPECT(ipc.flags == 0);
    OK(zeDriverGetExtensionProperties(driver, &extensions, NULL));
    ze_driver_extension_properties_t all[8];
    EXPECT(extensions >= 4 && extensions <= 8);
    OK(zeDriverGetExtensionProperties(driver, &extensions, all));
    EXPECT(strcmp(all[0].name, ZE_GLOBAL_OFFSET_EXP_NAME) == 0);
    for (uint32_t i = 0; i < extensions; i++) EXPECT(strncmp(all[i].name, "ZE_e", 4) == 0 && all[i].version != 0);
}

static void device_properties(uint32_t sub_devices, bool has_subgroups)
{
    uint32_t count = 0;
    ze_device_handle_t parts[16];
    ze_device_properties_t old = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    ze_device_properties_t new = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2};
    OK(zeDeviceGetProperties(device, &old));
    OK(zeDeviceGetProperties(device, &new));
    EXPECT(old.type == ZE_DEVICE_TYPE_CPU && old.vendorId == 0x10006 && old.timerResolution == 1);
    EXPECT(new.timerResolution == 1000000000 && new.timestampValidBits == 64);
    EXPECT(strncmp(old.name, "Concord Level Zero CPU (", 24) == 0 && old.name[strlen(old.name) - 1] == ')');
    EXPECT(old.numEUsPerSubslice >= 1 && old.maxMemAllocSize > 0);
    OK(zeDeviceGetSubDevices(device, &count, NULL));
    EXPECT(count == sub_devices);
    OK(zeDeviceGetSubDevices(device, &count, parts));
    for (uint32_t i = 0; i < sub_devices; i++) {
        uint32_t none = 0;
        OK(zeDeviceGetProperties(parts[i], &new));
        EXPECT(new.flags &ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE &&new.subdeviceId == i);
        EXPECT(memcmp(&new.uuid, &old.uuid, sizeof new.uuid) != 0);
        OK(zeDeviceGetSubDevices(parts[i], &none, NULL));
        EXPECT(none == 0);
    }
    ze_device_compute_properties_t compute = {.stype = ZE_STRUCTURE_TYPE_DEVICE_COMPUTE_PROPERTIES};
    OK(zeDeviceGetComputeProperties(device, &compute));
    EXPECT(compute.maxTotalGroupSize == 1024 && compute.maxGroupSizeX <= 1024 &&
           compute.maxSharedLocalMemory >= 32 << 10);
    EXPECT(compute.numSubGroupSizes == (has_subgroups ? 3 : 0));
    for (uint32_t i = 0; i < ZE_SUBGROUPSIZE_COUNT; i++)
        EXPECT(compute.subGroupSizes[i] == (i < compute.numSubGroupSizes ? 8u << i : 0));
}

static void other_device_properties(void)
{
    uint32_t count = 0;
    ze_device_module_properties_t module = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES};
    OK(zeDeviceGetModuleProperties(device, &module));
    EXPECT(module.spirvVersionSupported >= ZE_MAKE_VERSION(1, 2) && module.fp32flags & ZE_DEVICE_FP_FLAG_FMA);
    EXPECT(((module.flags & ZE_DEVICE_MODULE_FLAG_FP16) != 0) == (module.fp16flags != 0));
    ze_command_queue_group_properties_t group = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES};
    OK(zeDeviceGetCommandQueueGroupProperties(device, &count, NULL));
    EXPECT(count == 1);
    count = 5;
    OK(zeDeviceGetCommandQueueGroupProperties(device, &count, &group));
    EXPECT(count == 1 && group.maxMemoryFillPatternSize == 128 && group.numQueues == 1);
    EXPECT(group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE &&
           group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY);
    ze_device_memory_properties_t memory = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES};
    count = 1;
    OK(zeDeviceGetMemoryProperties(device, &count, &memory));
    EXPECT(memory.totalSize > 0);
    ze_device_memory_access_properties_t access = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES};
    OK(zeDeviceGetMemoryAccessProperties(device, &access));
    EXPECT(access.deviceAllocCapabilities & ZE_MEMORY_ACCESS_CAP_FLAG_RW && access.sharedSystemAllocCapabilities == 0);
    ze_device_image_properties_t image = {.stype = ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES, .maxSamplers = 9};
    OK(zeDeviceGetImageProperties(device, &image));
    EXPECT(image.maxSamplers == 0 && image.maxImageDims2D == 0);
    ze_device_cache_properties_t caches[3] = {{.stype = ZE_STRUCTURE_TYPE_DEVICE_CACHE_PROPERTIES}};
    count = 0;
    OK(zeDeviceGetCacheProperties(device, &count, NULL));
    EXPECT(count == 3);
    OK(zeDeviceGetCacheProperties(device, &count, caches));
    ze_device_external_memory_properties_t external = {.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES};
    OK(zeDeviceGetExternalMemoryProperties(device, &external));
    EXPECT(external.memoryAllocationExportTypes == 0);
    ze_bool_t reachable = 0;
    OK(zeDeviceCanAccessPeer(device, device, &reachable));
    EXPECT(reachable == 1);
    ze_device_p2p_properties_t peer = {.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES};
    OK(zeDeviceGetP2PProperties(device, device, &peer));
    uint64_t host, own, later;
    OK(zeDeviceGetGlobalTimestamps(device, &host, &own));
    OK(zeDeviceGetGlobalTimestamps(device, &host, &later));
    EXPECT(later >= own);
    OK(zeDeviceGetStatus(device));
    OK(zeContextGetStatus(context));
    OK(zeContextSystemBarrier(context, device));
}

static void module_properties(const char *path)
{
    ze_module_handle_t module = make_module(path);
    ze_kernel_handle_t kernel = make_kernel(module);
    ze_kernel_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES};
    ze_module_properties_t imports = {.stype = ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, .flags = 9};
    uint32_t count = 0, x = 0, y = 0, z = 0;
    size_t bytes = 0, spirv_bytes;
    const char *name = NULL;
    char text[16] = "";
    OK(zeModuleGetProperties(module, &imports));
    EXPECT(imports.flags == 0);
    OK(zeModuleGetKernelNames(module, &count, NULL));
    OK(zeModuleGetKernelNames(module, &count, &name));
    EXPECT(count == 1 && strcmp(name, "probe") == 0);
    OK(zeModuleGetNativeBinary(module, &bytes, NULL));
    uint8_t *spirv = read_file(path, &spirv_bytes), *copy = malloc(bytes);
    EXPECT(bytes == spirv_bytes);
    OK(zeModuleGetNativeBinary(module, &bytes, copy));
    EXPECT(memcmp(spirv, copy, bytes) == 0);
    free(spirv);
    free(copy);
    OK(zeKernelGetProperties(kernel, &properties));
    EXPECT(properties.numKernelArgs == 3 && properties.requiredGroupSizeX == 0 && properties.localMemSize == 0);
    bytes = sizeof text;
    OK(zeKernelGetName(kernel, &bytes, text));
    EXPECT(bytes == 6 && strcmp(text, "probe") == 0);
    bytes = 3;
    OK(zeKernelGetName(kernel, &bytes, text));
    EXPECT(bytes == 6 && strcmp(text, "pr") == 0);
    uint32_t string_bytes = 0;
    char *attributes = NULL;
    OK(zeKernelGetSourceAttributes(kernel, &string_bytes, &attributes));
    EXPECT(string_bytes == 1 && *attributes == '\0');
    OK(zeKernelSuggestGroupSize(kernel, 3000, 7, 1, &x, &y, &z));
    EXPECT(x > 1 && 3000 % x == 0 && 7 % y == 0 && z == 1 && x * y * z <= 1024);
    OK(zeKernelSuggestMaxCooperativeGroupCount(kernel, &count));
    EXPECT(count >= 1);
    ze_kernel_indirect_access_flags_t flags = 0;
    OK(zeKernelSetIndirectAccess(kernel, ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST | ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    OK(zeKernelGetIndirectAccess(kernel, &flags));
    EXPECT(flags == (ZE_KERNEL_INDIRECT_ACCESS_FLAG_HOST | ZE_KERNEL_INDIRECT_ACCESS_FLAG_SHARED));
    OK(zeKernelSetCacheConfig(kernel, ZE_CACHE_CONFIG_FLAG_LARGE_SLM));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
}

int main(int argc, char **argv)
{
    EXPECT(argc >= 2);
    open_device();
    driver_properties();
    device_properties(argc > 2 ? (uint32_t)atoi(argv[2]) : 0, argc <= 3);
    other_device_properties();
    module_properties(argv[1]);
    OK(zeContextDestroy(context));
    return 0;
}
