/* The shared parts of the tests of errors: one of each object, and handles that are none. */
#ifndef ERRORS_H
#define ERRORS_H

#include "support.h"

#define NO_HANDLE ZE_RESULT_ERROR_INVALID_NULL_HANDLE
#define NO_POINTER ZE_RESULT_ERROR_INVALID_NULL_POINTER
#define BAD_ENUM ZE_RESULT_ERROR_INVALID_ENUMERATION
#define BAD_ARGUMENT ZE_RESULT_ERROR_INVALID_ARGUMENT
#define BAD_SIZE ZE_RESULT_ERROR_INVALID_SIZE
#define UNSUPPORTED ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
#define NO_SYNC ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT

/* Invalid handles: none, numbers, a pointer, one of another kind, one destroyed. */
static void *bad_handles[6];
enum { BAD = 6 };

/* For each of those. */
#define EACH_BAD(call)                                                                                                 \
    for (int i = 0; i < BAD; i++) {                                                                                    \
        void *bad = bad_handles[i];                                                                                    \
        EXPECT_RESULT(call, NO_HANDLE);                                                                                \
    }

static ze_command_queue_handle_t queue;
static ze_command_list_handle_t list;
static ze_event_pool_handle_t pool;
static ze_event_handle_t event;
static ze_fence_handle_t fence;
static ze_module_handle_t module;
static ze_kernel_handle_t kernel;
static uint32_t *memory;

static inline void open_all(const char *path)
{
    open_device();
    queue = make_queue();
    list = make_list();
    pool = make_pool(2);
    event = make_event(pool, 0);
    fence = make_fence(queue);
    module = make_module(path);
    kernel = make_kernel(module);
    memory = make_shared(4096);
    ze_command_list_handle_t destroyed = make_list();
    OK(zeCommandListDestroy(destroyed));
    void *const bad[BAD] = {NULL, (void *)1, (void *)UINTPTR_MAX, &queue, destroyed, (void *)0x10000f0};
    memcpy(bad_handles, bad, sizeof bad);
}

static inline void close_all(void)
{
    /* None of all that has left anything behind. */
    OK(zeMemFree(context, memory));
    OK(zeKernelDestroy(kernel));
    OK(zeModuleDestroy(module));
    OK(zeFenceDestroy(fence));
    OK(zeEventDestroy(event));
    OK(zeEventPoolDestroy(pool));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
    OK(zeContextDestroy(context));
}

#endif
