#include "driver.h"

#include <stdio.h>
#include <stdlib.h>

static const uint64_t MAX_DEFAULT_BYTES = UINT64_C(8) << 30;

driver_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') return otherwise;
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end == '\0' && strchr(text, '-') == NULL) return value;
    fprintf(stderr, "level-zero-cpu: %s=%s is not a whole number; ignored\n", name, text);
    return otherwise;
}

static void start(void)
{
    char reason[512] = "";
    monitor_start();
    if (number("LEVEL_ZERO_CPU_FAIL_INIT", 0) != 0) return;
    if (!engine_start(&settings.engine, reason, sizeof reason)) {
        fprintf(stderr, "level-zero-cpu: %s\n", reason);
        return;
    }
    const uint64_t half = settings.engine.physical_bytes / 2;
    settings.memory_bytes = number("LEVEL_ZERO_CPU_MEMORY", half < MAX_DEFAULT_BYTES ? half : MAX_DEFAULT_BYTES);
    const uint64_t sub_devices = number("LEVEL_ZERO_CPU_SUB_DEVICES", 0);
    settings.sub_devices = sub_devices < MAX_SUB_DEVICES ? (uint32_t)sub_devices : MAX_SUB_DEVICES;
    lose_after(number("LEVEL_ZERO_CPU_LOSE_AFTER", 0));
    result = ZE_RESULT_SUCCESS;
}

ze_result_t start_driver(void)
{
    pthread_once(&once, start);
    return result;
}

/* POCL's vendor id of the Khronos registry, since a processor seen through PoCL has no PCI identity. */
enum { VENDOR_ID = 0x10006, DEVICE_ID = 1, TIMESTAMP_BITS = 64 };
static const uint64_t CYCLES_PER_SECOND = 1000000000;
static const ze_device_uuid_t UUID = {"concord-l0-cpu\0\0"};

static device *all[MAX_SUB_DEVICES + 1];

ze_result_t open_devices(void)
{
    for (uint32_t i = 0; i <= settings.sub_devices; i++) {
        ze_device_handle_t handle;
        device *made = object_make(sizeof *made, KIND_DEVICE, NULL, NULL);
        if (made != NULL) made->number = i;
        TRY(object_open(made, &handle));
        all[i] = made;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount, ze_device_handle_t *phDevices)
{
    HOLD(object, driver, hDriver, KIND_DRIVER);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, phDevices) > 0) phDevices[0] = HANDLE_OF(ze_device_handle_t, all[0]);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount, ze_device_handle_t *phSubdevices)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint32_t written = items_to_write(pCount, of->number == 0 ? settings.sub_devices : 0, phSubdevices);
    for (uint32_t i = 0; i < written; i++) phSubdevices[i] = HANDLE_OF(ze_device_handle_t, all[i + 1]);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetProperties(ze_device_handle_t hDevice, ze_device_properties_t *pDeviceProperties)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pDeviceProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_device_properties_t *to = pDeviceProperties;
    const engine_info *engine = &settings.engine;
    to->type = ZE_DEVICE_TYPE_CPU;
    to->vendorId = VENDOR_ID;
    to->deviceId = DEVICE_ID;
    to->flags = ZE_DEVICE_PROPERTY_FLAG_INTEGRATED | ZE_DEVICE_PROPERTY_FLAG_ONDEMANDPAGING;
    if (of->number > 0) to->flags |= ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE;
    to->subdeviceId = of->number > 0 ? of->number - 1 : 0;
    to->coreClockRate = engine->clock_mhz;
    to->maxMemAllocSize = settings.memory_bytes;
    to->maxHardwareContexts = 1024;
    to->maxCommandQueuePriority = 0;
    to->numThreadsPerEU = 1;
    to->physicalEUSimdWidth = engine->vector_floats;
    to->numEUsPerSubslice = engine->compute_units;
    to->numSubslicesPerSlice = 1;
    to->numSlices = 1;
    /* Nanoseconds per tick, but ticks per second where the program asks in the newer way. */
    to->timerResolution = to->stype == ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2 ? CYCLES_PER_SECOND : 1;
    to->timestampValidBits = TIMESTAMP_BITS;
    to->kernelTimestampValidBits = TIMESTAMP_BITS;
    to->uuid = UUID;
    to->uuid.id[15] = (uint8_t)of->number;
    snprintf(to->name, sizeof to->name, "Concord Level Zero CPU (%s)", engine->name);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetComputeProperties(ze_device_handle_t hDevice, ze_device_compute_properties_t *pComputeProperties)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pComputeProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_device_compute_properties_t *to = pComputeProperties;
    const engine_info *engine = &settings.engine;
    to->maxTotalGroupSize = engine->max_group_size;
    to->maxGroupSizeX = to->maxGroupSizeY = to->maxGroupSizeZ = engine->max_group_size;
    to->maxGroupCountX = to->maxGroupCountY = to->maxGroupCountZ = INT32_MAX;
    to->maxSharedLocalMemory = engine->max_local_bytes;
    to->numSubGroupSizes = ENGINE_SUBGROUP_SIZES;
    memset(to->subGroupSizes, 0, sizeof to->subGroupSizes);
    memcpy(to->subGroupSizes, engine->subgroup_sizes, sizeof engine->subgroup_sizes);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetModuleProperties(ze_device_handle_t hDevice, ze_device_module_properties_t *pModuleProperties)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pModuleProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    ze_device_module_properties_t *to = pModuleProperties;
    const engine_info *engine = &settings.engine;
    const ze_device_fp_flags_t ieee = ZE_DEVICE_FP_FLAG_DENORM | ZE_DEVICE_FP_FLAG_INF_NAN |
                                      ZE_DEVICE_FP_FLAG_ROUND_TO_NEAREST | ZE_DEVICE_FP_FLAG_FMA;
    to->spirvVersionSupported = ZE_MAKE_VERSION(1, 4);
    to->flags = ZE_DEVICE_MODULE_FLAG_INT64_ATOMICS;
    if (engine->has_f16) to->flags |= ZE_DEVICE_MODULE_FLAG_FP16;
    if (engine->has_f64) to->flags |= ZE_DEVICE_MODULE_FLAG_FP64;
    /* Arithmetic on half goes through float, so it has no fused multiply-add. */
    to->fp16flags = engine->has_f16 ? ieee & ~(ze_device_fp_flags_t)ZE_DEVICE_FP_FLAG_FMA : 0;
    to->fp32flags = ieee;
    to->fp64flags = engine->has_f64 ? ieee : 0;
    to->maxArgumentsSize = 1024;
    to->printfBufferSize = 0;
    memset(&to->nativeKernelSupported, 0, sizeof to->nativeKernelSupported);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetCommandQueueGroupProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                                   ze_command_queue_group_properties_t *pCommandQueueGroupProperties)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, pCommandQueueGroupProperties) > 0) {
        pCommandQueueGroupProperties->flags =
            ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE | ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY;
        pCommandQueueGroupProperties->maxMemoryFillPatternSize = MAX_FILL_PATTERN_BYTES;
        pCommandQueueGroupProperties->numQueues = 1;
    }
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetMemoryProperties(ze_device_handle_t hDevice, uint32_t *pCount,
                                        ze_device_memory_properties_t *pMemProperties)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, pMemProperties) > 0) {
        pMemProperties->flags = 0;
        pMemProperties->maxClockRate = 0;
        pMemProperties->maxBusWidth = 64;
        pMemProperties->totalSize = settings.memory_bytes;
        snprintf(pMemProperties->name, sizeof pMemProperties->name, "host memory");
    }
    return ZE_RESULT_SUCCESS;
}
