/*
 * Device and host memory: pages of the process, counted against what the device has. Memory that is freed while
 * work submitted before still runs is given back when that is done.
 */
#ifndef ALLOCATIONS_H
#define ALLOCATIONS_H

#include "handles.h"

typedef struct {
    char *base;
    size_t bytes; /* as asked for */
    bool is_host;
    context *context;
} allocation;

typedef enum {
    PLACE_OUTSIDE, /* in no allocation: memory of the program's own */
    PLACE_INSIDE,  /* all of it in one allocation of the context */
    PLACE_BROKEN   /* reaches beyond its allocation, or is another context's */
} place;

/* Where a range of memory lies. An empty range lies where its address does. */
place range_place(const context *context, const void *address, size_t bytes);

/*
 * Maps memory. Alignment is a power of two or 0.
 * ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY.
 */
ze_result_t allocate(context *context, bool is_host, size_t bytes, size_t alignment, void **address);

/* Frees the allocation that starts there. ZE_RESULT_ERROR_INVALID_ARGUMENT where none does. */
ze_result_t free_allocation(context *context, void *address);

/* Gives back what waited for work that is done now. Outside the monitor. */
void sweep_allocations(void);

/* The number of allocations, and of requested bytes. */
void count_allocations(uint64_t *count, uint64_t *bytes);

#endif
