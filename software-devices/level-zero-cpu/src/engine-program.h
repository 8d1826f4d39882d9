/* Programs and kernels inside the engine. */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#include "engine-pocl.h"

#include <pthread.h>

/*
 * PoCL keeps the work-items of a group on the stack of the thread that runs the group, and generates code there. Only
 * what is touched takes memory.
 */
enum { ENGINE_WORKER_STACK_BYTES = 256 << 20, ENGINE_PRIVATE_BYTES = 192 << 20 };

struct engine_program {
    cl_program program;
    engine_kernel_info *kernels; /* one block with names and arguments */
    uint32_t *numbers;           /* by kernel: what PoCL knows it by, see spirv_kernel_name */
    uint32_t kernel_count;
};

struct engine_kernel {
    cl_kernel kernel;
    const engine_kernel_info *info;
    pthread_mutex_t lock; /* arguments are state of the cl_kernel until the launch is enqueued */
};

#endif
