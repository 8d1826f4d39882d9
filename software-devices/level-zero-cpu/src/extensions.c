#include "extensions.h"
#include "allocations.h"
#include "execute.h"
#include "faults.h"
#include "handles.h"

ze_result_t concordGetLiveObjects(concord_live_objects *out)
{
    if (out == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *out = (concord_live_objects){
        .contexts = object_count(KIND_CONTEXT),
        .queues = object_count(KIND_QUEUE),
        .lists = object_count(KIND_LIST),
        .fences = object_count(KIND_FENCE),
        .event_pools = object_count(KIND_EVENT_POOL),
        .events = object_count(KIND_EVENT),
        .modules = object_count(KIND_MODULE),
        .kernels = object_count(KIND_KERNEL),
    };
    count_allocations(&out->allocations, &out->allocated_bytes);
    count_executed(&out->launches, &out->copies);
    return ZE_RESULT_SUCCESS;
}

ze_result_t concordLoseDevice(void)
{
    lose_device("concordLoseDevice");
    return ZE_RESULT_SUCCESS;
}

ze_result_t concordDelayNext(uint64_t nanoseconds)
{
    delay_next(nanoseconds);
    return ZE_RESULT_SUCCESS;
}

ze_result_t concordGetLossReason(const char **out)
{
    if (out == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *out = reason_of_loss();
    return ZE_RESULT_SUCCESS;
}

void *extension_function(const char *name)
{
    static const struct {
        const char *name;
        void (*function)(void);
    } all[] = {
        {"concordGetLiveObjects", (void (*)(void))concordGetLiveObjects},
        {"concordLoseDevice", (void (*)(void))concordLoseDevice},
        {"concordDelayNext", (void (*)(void))concordDelayNext},
        {"concordGetLossReason", (void (*)(void))concordGetLossReason},
    };
    void *found = NULL;
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (strcmp(all[i].name, name) == 0) memcpy(&found, &all[i].function, sizeof found);
    return found;
}
