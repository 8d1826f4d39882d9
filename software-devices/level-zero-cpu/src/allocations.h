/*
 * Device, host and shared memory: pages of the process, counted against what the device has. Memory that is freed while
 * work submitted before still runs is given back when that is done.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "context.h"
#include "device.h"

typedef struct {
    char *base;
    size_t bytes; /* as asked for */
    uint64_t id;
    ze_memory_type_t type;
    context *context;
    device *device; /* NULL for host memory and shared memory of no device */
} allocation;

typedef enum {
    PLACE_OUTSIDE, /* in no allocation: memory of the program's own */
    PLACE_INSIDE,  /* all of it in one allocation of the context */
    PLACE_BROKEN   /* reaches beyond its allocation, or is another context's */
} place;

/* Where a range of memory lies. An empty range lies where its address does. */
place range_place(const context *context, const void *address, size_t bytes);

/* The allocation that an address is in, copied; false where it is in no allocation of the context. */
bool find_allocation(const context *context, const void *address, allocation *found);

/*
 * Maps memory. Alignment is a power of two or 0.
 * ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY.
 */
ze_result_t allocate(context *context, device *device, ze_memory_type_t type, size_t bytes, size_t alignment,
                     void **address);

/* Frees the allocation that starts there. ZE_RESULT_ERROR_INVALID_ARGUMENT where none does. */
ze_result_t free_allocation(context *context, void *address);

/* Gives back what waited for work that is done now. Outside the monitor. */
void sweep_allocations(void);

/* The number of allocations, and of requested bytes. */
void count_allocations(uint64_t *count, uint64_t *bytes);

#endif
