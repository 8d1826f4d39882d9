/* PoCL, opened privately: its functions come from its own dispatch table, so the process' OpenCL loader is not
 * involved. */
#ifndef ENGINE_POCL_H
#define ENGINE_POCL_H

#define CL_TARGET_OPENCL_VERSION 300
#include "engine.h"

#include <CL/cl.h>
#include <CL/cl_icd.h>

typedef struct {
    const cl_icd_dispatch *api;
    cl_device_id device;
    cl_context context;
    unsigned llvm_major;
    engine_info info;
} engine_pocl;

/* The one PoCL of this process; of use only after `engine_start` succeeded. */
extern engine_pocl pocl;

#endif
