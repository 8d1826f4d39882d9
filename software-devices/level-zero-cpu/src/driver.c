/* Initialisation and the driver's own properties. */
#include "device.h"
#include "extensions.h"
#include "settings.h"
#include <pthread.h>

static object driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ze_result_t opened = ZE_RESULT_ERROR_UNINITIALIZED;

static const ze_driver_uuid_t UUID = {"concord-l0-cpu\0\1"};
enum { DRIVER_VERSION = 1 << 24 };

static void never(object *driver_itself)
{
    (void)driver_itself;
}

static void open_driver(void)
{
    opened = start_driver();
    if (opened != ZE_RESULT_SUCCESS) return;
    if (!object_open(&driver, KIND_DRIVER, never) || !open_devices()) opened = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

ze_result_t zeInit(ze_init_flags_t flags)
{
    if (flags > (ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    pthread_once(&once, open_driver);
    if (opened != ZE_RESULT_SUCCESS) return opened;
    const bool is_wanted = flags == 0 || (settings.as_gpu && flags & ZE_INIT_FLAG_GPU_ONLY);
    return is_wanted ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (opened != ZE_RESULT_SUCCESS) return ZE_RESULT_ERROR_UNINITIALIZED;
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, phDrivers) > 0) phDrivers[0] = (ze_driver_handle_t)driver.handle;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetApiVersion(ze_driver_handle_t hDriver, ze_api_version_t *version)
{
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (version == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *version = ZE_API_VERSION_1_4;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetProperties(ze_driver_handle_t hDriver, ze_driver_properties_t *pDriverProperties)
{
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (pDriverProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pDriverProperties->uuid = UUID;
    pDriverProperties->driverVersion = DRIVER_VERSION;
    for (ze_base_properties_t *next = pDriverProperties->pNext; next != NULL; next = next->pNext)
        if (next->stype == ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES)
            ((ze_driver_memory_free_ext_properties_t *)(void *)next)->freePolicies =
                ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE | ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetIpcProperties(ze_driver_handle_t hDriver, ze_driver_ipc_properties_t *pIpcProperties)
{
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (pIpcProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pIpcProperties->flags = 0;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                                           ze_driver_extension_properties_t *pExtensionProperties)
{
    static const ze_driver_extension_properties_t all[] = {
        {ZE_GLOBAL_OFFSET_EXP_NAME, ZE_GLOBAL_OFFSET_EXP_VERSION_1_0},
        {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_1_0},
        {ZE_MEMORY_FREE_POLICIES_EXT_NAME, ZE_MEMORY_FREE_POLICIES_EXT_VERSION_1_0},
        {ZE_EVENT_QUERY_TIMESTAMPS_EXP_NAME, ZE_EVENT_QUERY_TIMESTAMPS_EXP_VERSION_1_0},
        {ZE_SUBGROUPS_EXT_NAME, ZE_SUBGROUP_EXT_VERSION_1_0},
    };
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    /* Sub-groups are the last, so that they can be left out. */
    const uint32_t available = (uint32_t)(sizeof all / sizeof *all) - (settings.has_subgroups ? 0 : 1);
    const uint32_t written = items_to_write(pCount, available, pExtensionProperties);
    if (written > 0) memcpy(pExtensionProperties, all, written * sizeof *all);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver, const char *name, void **ppFunctionAddress)
{
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (name == NULL || ppFunctionAddress == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *ppFunctionAddress = extension_function(name);
    return *ppFunctionAddress == NULL ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}
