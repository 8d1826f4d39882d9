/*
 * The functions that the loader asks a driver for, by table. Those that are not supported stay NULL there, which the loader
 * answers with ZE_RESULT_ERROR_UNSUPPORTED_FEATURE. Filled member by member, as their number depends on the loader.
 */
#include "driver.h"
#include <level_zero/ze_ddi.h>
#include <level_zero/zes_ddi.h>
#include <level_zero/zet_ddi.h>

static ze_result_t check(ze_api_version_t version, const void *table)
{
    if (table == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    return ZE_MAJOR_VERSION(version) == 1 ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
}

/* Begins the function that fills a table of type `type`. */
#define TABLE(name, type)                                                                                              \
    ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *table)                                    \
    {                                                                                                                  \
        const ze_result_t result = check(version, table);                                                              \
        if (result != ZE_RESULT_SUCCESS) return result;

#define END                                                                                                            \
    return ZE_RESULT_SUCCESS;                                                                                          \
    }

/* A table with nothing in it, which has to exist all the same. */
#define EMPTY(name, type)                                                                                              \
    ZE_DLLEXPORT ze_result_t ZE_APICALL name(ze_api_version_t version, type *table)                                    \
    {                                                                                                                  \
        return check(version, table);                                                                                  \
    }

TABLE(zeGetGlobalProcAddrTable, ze_global_dditable_t)
    table->pfnInit = zeInit;
END

TABLE(zeGetDriverProcAddrTable, ze_driver_dditable_t)
    table->pfnGet = zeDriverGet;
    table->pfnGetApiVersion = zeDriverGetApiVersion;
    table->pfnGetProperties = zeDriverGetProperties;
    table->pfnGetExtensionProperties = zeDriverGetExtensionProperties;
    table->pfnGetExtensionFunctionAddress = zeDriverGetExtensionFunctionAddress;
END

TABLE(zeGetDeviceProcAddrTable, ze_device_dditable_t)
    table->pfnGet = zeDeviceGet;
    table->pfnGetSubDevices = zeDeviceGetSubDevices;
    table->pfnGetProperties = zeDeviceGetProperties;
    table->pfnGetComputeProperties = zeDeviceGetComputeProperties;
    table->pfnGetModuleProperties = zeDeviceGetModuleProperties;
    table->pfnGetCommandQueueGroupProperties = zeDeviceGetCommandQueueGroupProperties;
    table->pfnGetMemoryProperties = zeDeviceGetMemoryProperties;
END

TABLE(zeGetContextProcAddrTable, ze_context_dditable_t)
    table->pfnCreate = zeContextCreate;
    table->pfnDestroy = zeContextDestroy;
END

TABLE(zeGetCommandQueueProcAddrTable, ze_command_queue_dditable_t)
    table->pfnCreate = zeCommandQueueCreate;
    table->pfnDestroy = zeCommandQueueDestroy;
    table->pfnExecuteCommandLists = zeCommandQueueExecuteCommandLists;
    table->pfnSynchronize = zeCommandQueueSynchronize;
END

TABLE(zeGetCommandListProcAddrTable, ze_command_list_dditable_t)
    table->pfnCreate = zeCommandListCreate;
    table->pfnDestroy = zeCommandListDestroy;
    table->pfnClose = zeCommandListClose;
    table->pfnReset = zeCommandListReset;
    table->pfnAppendBarrier = zeCommandListAppendBarrier;
    table->pfnAppendMemoryCopy = zeCommandListAppendMemoryCopy;
    table->pfnAppendMemoryFill = zeCommandListAppendMemoryFill;
    table->pfnAppendLaunchKernel = zeCommandListAppendLaunchKernel;
END

TABLE(zeGetFenceProcAddrTable, ze_fence_dditable_t)
    table->pfnCreate = zeFenceCreate;
    table->pfnDestroy = zeFenceDestroy;
    table->pfnHostSynchronize = zeFenceHostSynchronize;
    table->pfnQueryStatus = zeFenceQueryStatus;
    table->pfnReset = zeFenceReset;
END

TABLE(zeGetModuleProcAddrTable, ze_module_dditable_t)
    table->pfnCreate = zeModuleCreate;
    table->pfnDestroy = zeModuleDestroy;
    table->pfnGetNativeBinary = zeModuleGetNativeBinary;
END

TABLE(zeGetModuleBuildLogProcAddrTable, ze_module_build_log_dditable_t)
    table->pfnDestroy = zeModuleBuildLogDestroy;
    table->pfnGetString = zeModuleBuildLogGetString;
END

TABLE(zeGetKernelProcAddrTable, ze_kernel_dditable_t)
    table->pfnCreate = zeKernelCreate;
    table->pfnDestroy = zeKernelDestroy;
    table->pfnSetGroupSize = zeKernelSetGroupSize;
    table->pfnSetArgumentValue = zeKernelSetArgumentValue;
    table->pfnSetIndirectAccess = zeKernelSetIndirectAccess;
    table->pfnGetProperties = zeKernelGetProperties;
END

TABLE(zeGetEventPoolProcAddrTable, ze_event_pool_dditable_t)
    table->pfnCreate = zeEventPoolCreate;
    table->pfnDestroy = zeEventPoolDestroy;
END

TABLE(zeGetEventProcAddrTable, ze_event_dditable_t)
    table->pfnCreate = zeEventCreate;
    table->pfnDestroy = zeEventDestroy;
    table->pfnQueryStatus = zeEventQueryStatus;
    table->pfnHostReset = zeEventHostReset;
    table->pfnQueryKernelTimestamp = zeEventQueryKernelTimestamp;
END

TABLE(zeGetMemProcAddrTable, ze_mem_dditable_t)
    table->pfnAllocDevice = zeMemAllocDevice;
    table->pfnAllocHost = zeMemAllocHost;
    table->pfnFree = zeMemFree;
END

EMPTY(zeGetEventExpProcAddrTable, ze_event_exp_dditable_t)
EMPTY(zeGetKernelExpProcAddrTable, ze_kernel_exp_dditable_t)
EMPTY(zeGetDeviceExpProcAddrTable, ze_device_exp_dditable_t)
EMPTY(zeGetImageProcAddrTable, ze_image_dditable_t)
EMPTY(zeGetImageExpProcAddrTable, ze_image_exp_dditable_t)
EMPTY(zeGetSamplerProcAddrTable, ze_sampler_dditable_t)
EMPTY(zeGetPhysicalMemProcAddrTable, ze_physical_mem_dditable_t)
EMPTY(zeGetVirtualMemProcAddrTable, ze_virtual_mem_dditable_t)
EMPTY(zeGetFabricVertexExpProcAddrTable, ze_fabric_vertex_exp_dditable_t)
EMPTY(zeGetFabricEdgeExpProcAddrTable, ze_fabric_edge_exp_dditable_t)
EMPTY(zetGetDeviceProcAddrTable, zet_device_dditable_t)
EMPTY(zetGetContextProcAddrTable, zet_context_dditable_t)
EMPTY(zetGetCommandListProcAddrTable, zet_command_list_dditable_t)
EMPTY(zetGetModuleProcAddrTable, zet_module_dditable_t)
EMPTY(zetGetKernelProcAddrTable, zet_kernel_dditable_t)
EMPTY(zetGetMetricGroupProcAddrTable, zet_metric_group_dditable_t)
EMPTY(zetGetMetricGroupExpProcAddrTable, zet_metric_group_exp_dditable_t)
EMPTY(zetGetMetricProcAddrTable, zet_metric_dditable_t)
EMPTY(zetGetMetricStreamerProcAddrTable, zet_metric_streamer_dditable_t)
EMPTY(zetGetMetricQueryPoolProcAddrTable, zet_metric_query_pool_dditable_t)
EMPTY(zetGetMetricQueryProcAddrTable, zet_metric_query_dditable_t)
EMPTY(zetGetTracerExpProcAddrTable, zet_tracer_exp_dditable_t)
EMPTY(zetGetDebugProcAddrTable, zet_debug_dditable_t)
EMPTY(zesGetDriverProcAddrTable, zes_driver_dditable_t)
EMPTY(zesGetDeviceProcAddrTable, zes_device_dditable_t)
EMPTY(zesGetSchedulerProcAddrTable, zes_scheduler_dditable_t)
EMPTY(zesGetPerformanceFactorProcAddrTable, zes_performance_factor_dditable_t)
EMPTY(zesGetPowerProcAddrTable, zes_power_dditable_t)
EMPTY(zesGetFrequencyProcAddrTable, zes_frequency_dditable_t)
EMPTY(zesGetEngineProcAddrTable, zes_engine_dditable_t)
EMPTY(zesGetStandbyProcAddrTable, zes_standby_dditable_t)
EMPTY(zesGetFirmwareProcAddrTable, zes_firmware_dditable_t)
EMPTY(zesGetMemoryProcAddrTable, zes_memory_dditable_t)
EMPTY(zesGetFabricPortProcAddrTable, zes_fabric_port_dditable_t)
EMPTY(zesGetTemperatureProcAddrTable, zes_temperature_dditable_t)
EMPTY(zesGetPsuProcAddrTable, zes_psu_dditable_t)
EMPTY(zesGetFanProcAddrTable, zes_fan_dditable_t)
EMPTY(zesGetLedProcAddrTable, zes_led_dditable_t)
EMPTY(zesGetRasProcAddrTable, zes_ras_dditable_t)
EMPTY(zesGetDiagnosticsProcAddrTable, zes_diagnostics_dditable_t)
