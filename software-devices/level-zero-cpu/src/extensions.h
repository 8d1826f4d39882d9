/* Functions for tests, which a program gets through zeDriverGetExtensionFunctionAddress. */
#ifndef EXTENSIONS_H
#define EXTENSIONS_H

#include "api.h"

/* The counts of live objects in this process, and of executed work. */
typedef struct {
    uint64_t contexts, queues, lists, fences, event_pools, events, modules, kernels;
    uint64_t allocations, allocated_bytes;
    uint64_t launches, copies;
} concord_live_objects;

/* Counts. ZE_RESULT_ERROR_INVALID_NULL_POINTER. */
ze_result_t concordGetLiveObjects(concord_live_objects *out);

/* Loses the device now. */
ze_result_t concordLoseDevice(void);

/* Makes the next command executed take that much longer. */
ze_result_t concordDelayNext(uint64_t nanoseconds);

/* Why the device was lost, an empty string while it is not. ZE_RESULT_ERROR_INVALID_NULL_POINTER. */
ze_result_t concordGetLossReason(const char **out);

/* The function of that name, or NULL. */
void *extension_function(const char *name);

#endif
