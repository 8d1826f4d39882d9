/* PoCL, programs and kernels inside the engine. */
#ifndef ENGINE_PROGRAM_H
#define ENGINE_PROGRAM_H

#define CL_TARGET_OPENCL_VERSION 300
#include "engine.h"

#include <CL/cl.h>
#include <CL/cl_icd.h>
#include <pthread.h>

/* PoCL, opened privately: its functions come from its own dispatch table, so the process' OpenCL loader is not
 * involved. */
typedef struct {
    const cl_icd_dispatch *api;
    cl_device_id device;
    cl_context context;
    unsigned llvm_major;
    engine_info info;
} engine_pocl;

/* The one PoCL of this process; of use only after `engine_start` succeeded. */
extern engine_pocl pocl;

/*
 * LLVM needs more stack than callers have: runs the job on the engine's own thread, one at a time, and waits for it.
 * False where that thread cannot be started.
 */
bool engine_run_on_big_stack(void (*job)(void *), void *argument);

/*
 * PoCL keeps the work-items of a group on the stack of the thread that runs the group, and generates code there. Only
 * what is touched takes memory.
 */
enum { ENGINE_WORKER_STACK_BYTES = ENGINE_MAX_PRIVATE_BYTES + (64 << 20) };

struct engine_program {
    cl_program program;
    engine_kernel_info *kernels; /* one block with names and arguments */
    uint32_t *numbers;           /* by kernel: what PoCL knows it by, see spirv_kernel_name */
    uint32_t kernel_count;
};

struct engine_kernel {
    cl_kernel kernel;
    const engine_kernel_info *info;
};

#endif
