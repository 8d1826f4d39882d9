/* Initialisation, the driver's own properties and functions, and contexts. */
#include "driver.h"

static ze_driver_handle_t driver;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ze_result_t opened = ZE_RESULT_ERROR_UNINITIALIZED;

static const ze_driver_uuid_t UUID = {"concord-l0-cpu\0\1"};
enum { DRIVER_VERSION = 1 << 24 };

static void open_driver(void)
{
    opened = start_driver();
    if (opened == ZE_RESULT_SUCCESS) opened = object_open(object_make(sizeof(object), KIND_DRIVER, NULL, NULL), &driver);
    if (opened == ZE_RESULT_SUCCESS) opened = open_devices();
}

ze_result_t zeInit(ze_init_flags_t flags)
{
    if (flags > (ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    pthread_once(&once, open_driver);
    /* It is neither of what the flags ask for. */
    return flags == 0 ? opened : ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t zeDriverGet(uint32_t *pCount, ze_driver_handle_t *phDrivers)
{
    if (opened != ZE_RESULT_SUCCESS) return ZE_RESULT_ERROR_UNINITIALIZED;
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, phDrivers) > 0) phDrivers[0] = driver;
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
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionProperties(ze_driver_handle_t hDriver, uint32_t *pCount,
                                           ze_driver_extension_properties_t *pExtensionProperties)
{
    static const ze_driver_extension_properties_t all[] = {
        {ZE_RELAXED_ALLOCATION_LIMITS_EXP_NAME, ZE_RELAXED_ALLOCATION_LIMITS_EXP_VERSION_1_0},
        {ZE_SUBGROUPS_EXT_NAME, ZE_SUBGROUP_EXT_VERSION_1_0},
    };
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint32_t written = items_to_write(pCount, sizeof all / sizeof *all, pExtensionProperties);
    if (written > 0) memcpy(pExtensionProperties, all, written * sizeof *all);
    return ZE_RESULT_SUCCESS;
}

/* For tests: the counts of live objects in this process, and of executed work. */
typedef struct {
    uint64_t contexts, queues, lists, fences, modules, kernels;
    uint64_t allocations, allocated_bytes;
    uint64_t launches, copies;
} live_objects;

static ze_result_t concordGetLiveObjects(live_objects *out)
{
    if (out == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *out = (live_objects){
        .contexts = object_count(KIND_CONTEXT),
        .queues = object_count(KIND_QUEUE),
        .lists = object_count(KIND_LIST),
        .fences = object_count(KIND_FENCE),
        .modules = object_count(KIND_MODULE),
        .kernels = object_count(KIND_KERNEL),
    };
    count_allocations(&out->allocations, &out->allocated_bytes);
    count_executed(&out->launches, &out->copies);
    return ZE_RESULT_SUCCESS;
}

static ze_result_t concordLoseDevice(void)
{
    lose_device();
    return ZE_RESULT_SUCCESS;
}

static ze_result_t concordDelayNext(uint64_t nanoseconds)
{
    delay_next(nanoseconds);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDriverGetExtensionFunctionAddress(ze_driver_handle_t hDriver, const char *name, void **ppFunctionAddress)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"concordGetLiveObjects", (void (*)(void))concordGetLiveObjects},
        {"concordLoseDevice", (void (*)(void))concordLoseDevice},
        {"concordDelayNext", (void (*)(void))concordDelayNext},
    };
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (name == NULL || ppFunctionAddress == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *ppFunctionAddress = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) memcpy(ppFunctionAddress, &all[i].function, sizeof all[i].function);
    return *ppFunctionAddress == NULL ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

ze_result_t zeContextCreate(ze_driver_handle_t hDriver, const ze_context_desc_t *desc, ze_context_handle_t *phContext)
{
    HOLD(object, of, hDriver, KIND_DRIVER);
    if (desc == NULL || phContext == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (desc->flags > ZE_CONTEXT_FLAG_TBD) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return object_open(object_make(sizeof(context), KIND_CONTEXT, NULL, NULL), phContext);
}

ze_result_t zeContextDestroy(ze_context_handle_t hContext)
{
    HOLD(context, destroyed, hContext, KIND_CONTEXT);
    TRY(may_be_destroyed(&destroyed->base));
    return object_close(&destroyed->base);
}
