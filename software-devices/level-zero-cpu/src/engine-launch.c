/* Kernels and the order they run in. */
#define _GNU_SOURCE
#include "engine-program.h"
#include "spirv.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

struct engine_stream {
    cl_command_queue queue;
    cl_event newest; /* launch, or NULL */
    engine_stream *next;
};

/* Whoever sets arguments, which are state of the cl_kernel until its launch is enqueued, or touches what follows. */
static pthread_mutex_t enqueuing = PTHREAD_MUTEX_INITIALIZER;
static engine_stream *streams;
static bool is_ending;

static ze_result_t result_of(cl_int status)
{
    switch (status) {
    case CL_SUCCESS: return ZE_RESULT_SUCCESS;
    case CL_OUT_OF_HOST_MEMORY: return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    case CL_OUT_OF_RESOURCES:
    case CL_MEM_OBJECT_ALLOCATION_FAILURE: return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
    case CL_INVALID_KERNEL_NAME: return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    case CL_INVALID_WORK_GROUP_SIZE:
    case CL_INVALID_WORK_ITEM_SIZE: return ZE_RESULT_ERROR_INVALID_GROUP_SIZE_DIMENSION;
    case CL_INVALID_ARG_SIZE: return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_SIZE;
    case CL_INVALID_ARG_INDEX: return ZE_RESULT_ERROR_INVALID_KERNEL_ARGUMENT_INDEX;
    default: return ZE_RESULT_ERROR_UNKNOWN;
    }
}

static const engine_kernel_info *find_kernel(const engine_program *program, const char *name)
{
    for (uint32_t at = 0; at < program->kernel_count; at++)
        if (strcmp(program->kernels[at].name, name) == 0) return &program->kernels[at];
    return NULL;
}

ze_result_t engine_create_kernel(engine_program *program, const char *name, engine_kernel **kernel)
{
    cl_int status = CL_SUCCESS;
    *kernel = NULL;
    const engine_kernel_info *info = find_kernel(program, name);
    if (!info) return ZE_RESULT_ERROR_INVALID_KERNEL_NAME;
    engine_kernel *created = calloc(1, sizeof *created);
    if (!created) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    created->info = info;
    char known_name[SPIRV_KERNEL_NAME_BYTES];
    spirv_kernel_name(program->numbers[info - program->kernels], known_name);
    created->kernel = pocl.api->clCreateKernel(program->program, known_name, &status);
    if (status != CL_SUCCESS) {
        free(created);
        return result_of(status);
    }
    *kernel = created;
    return ZE_RESULT_SUCCESS;
}

const engine_kernel_info *engine_info_of(const engine_kernel *kernel) { return kernel->info; }

void engine_release_kernel(engine_kernel *kernel)
{
    if (!kernel) return;
    pocl.api->clReleaseKernel(kernel->kernel);
    free(kernel);
}

/* True while a launch of the stream does not run yet, inside the lock. They run in order, so the newest says it. */
static bool has_waiting_launch(const engine_stream *stream)
{
    cl_int status = CL_COMPLETE;
    if (stream->newest)
        pocl.api->clGetEventInfo(stream->newest, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    return status > CL_RUNNING;
}

/*
 * PoCL compiles a kernel for its group size when its turn comes, on a thread of its own, which crashes where the process
 * takes LLVM down meanwhile. So the end of the process waits for launches that are under way, but for those behind a
 * kernel that runs on and on, and no more begin.
 */
static void end(void)
{
    enum { STEPS = 10000 };
    const struct timespec step = {.tv_nsec = 1000000};
    bool waits = true;
    for (int i = 0; waits && i < STEPS; i++) {
        if (i > 0) nanosleep(&step, NULL);
        pthread_mutex_lock(&enqueuing);
        is_ending = true;
        waits = false;
        for (const engine_stream *each = streams; each && !waits; each = each->next) waits = has_waiting_launch(each);
        pthread_mutex_unlock(&enqueuing);
    }
}

static void end_before_llvm(void) { atexit(end); }

ze_result_t engine_create_stream(engine_stream **stream)
{
    /* What is registered last is called first. */
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    cl_int status = CL_SUCCESS;
    pthread_once(&once, end_before_llvm);
    *stream = calloc(1, sizeof **stream);
    if (!*stream) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    (*stream)->queue = pocl.api->clCreateCommandQueue(pocl.context, pocl.device, 0, &status);
    if (status != CL_SUCCESS) {
        free(*stream);
        *stream = NULL;
        return result_of(status);
    }
    pthread_mutex_lock(&enqueuing);
    (*stream)->next = streams;
    streams = *stream;
    pthread_mutex_unlock(&enqueuing);
    return ZE_RESULT_SUCCESS;
}

void engine_release_stream(engine_stream *stream)
{
    if (!stream) return;
    pocl.api->clFinish(stream->queue);
    pthread_mutex_lock(&enqueuing);
    engine_stream **link = &streams;
    while (*link != stream) link = &(*link)->next;
    *link = stream->next;
    pthread_mutex_unlock(&enqueuing);
    if (stream->newest) pocl.api->clReleaseEvent(stream->newest);
    pocl.api->clReleaseCommandQueue(stream->queue);
    free(stream);
}

static cl_int set_argument(cl_kernel kernel, cl_uint index, const engine_launch *launch)
{
    const engine_argument *argument = &launch->kernel->info->arguments[index];
    void *address;
    if (argument->kind == ENGINE_VALUE)
        return pocl.api->clSetKernelArg(kernel, index, argument->bytes, launch->values[index]);
    memcpy(&address, launch->values[index], sizeof address);
    return pocl.api->clSetKernelArgSVMPointer(kernel, index, address);
}

ze_result_t engine_enqueue(engine_stream *stream, const engine_launch *launch)
{
    size_t global[3], local[3];
    for (int axis = 0; axis < 3; axis++) {
        local[axis] = launch->group_size[axis];
        global[axis] = local[axis] * launch->groups[axis];
    }
    const engine_kernel *kernel = launch->kernel;
    cl_int status = CL_SUCCESS;
    cl_event enqueued = NULL;
    pthread_mutex_lock(&enqueuing);
    for (cl_uint index = 0; status == CL_SUCCESS && index < kernel->info->argument_count; index++)
        status = set_argument(kernel->kernel, index, launch);
    if (status == CL_SUCCESS && !is_ending)
        status = pocl.api->clEnqueueNDRangeKernel(stream->queue, kernel->kernel, 3, NULL, global, local, 0, NULL,
                                                  &enqueued);
    if (enqueued) {
        if (stream->newest) pocl.api->clReleaseEvent(stream->newest);
        stream->newest = enqueued;
    }
    pthread_mutex_unlock(&enqueuing);
    return result_of(status);
}

ze_result_t engine_finish(engine_stream *stream) { return result_of(pocl.api->clFinish(stream->queue)); }
