/*
 * Many threads, and many of all: `stress probe.spv threads | soak`
 *
 * threads: each builds, launches and waits with its own objects and a kernel that all share, on a small stack.
 * soak: launches and objects leave nothing behind; prints how many bytes the process has grown by.
 */
#include "support.h"
#include <pthread.h>
#include <unistd.h>

enum { THREADS = 6, ROUNDS = 60, BYTES = 4096, COUNT = 32, STACK_BYTES = 128 << 10 };

static const char *path;
static ze_module_handle_t module;
static ze_kernel_handle_t shared;
static ze_command_queue_handle_t queue;
static uint8_t *memory;

static void *work(void *number)
{
    const uint32_t me = (uint32_t)(uintptr_t)number;
    ze_module_handle_t own_module = make_module(path);
    ze_kernel_handle_t own = make_kernel(own_module);
    ze_command_list_handle_t list = make_list();
    ze_fence_handle_t fence = make_fence(queue);
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t *out = make_device(4096), local[COUNT];
        set_probe(own, out, round + me, 8);
        OK(zeCommandListAppendLaunchKernel(list, own, &(ze_group_count_t){COUNT / 8, 1, 1}, NULL, 0, NULL));
        OK(zeCommandListAppendLaunchKernel(list, shared, &(ze_group_count_t){1, 1, 1}, NULL, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, local, out, sizeof local, NULL, 0, NULL));
        OK(zeCommandListClose(list));
        OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, fence));
        OK(zeFenceHostSynchronize(fence, UINT64_MAX));
        OK(zeFenceReset(fence));
        EXPECT(is_probed(local, COUNT, round + me, 8));
        OK(zeCommandListReset(list));
        OK(zeMemFree(context, out));
    }
    OK(zeFenceDestroy(fence));
    OK(zeCommandListDestroy(list));
    OK(zeKernelDestroy(own));
    OK(zeModuleDestroy(own_module));
    return NULL;
}

static void run_threads(void *(*code)(void *))
{
    pthread_t threads[THREADS];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    for (uintptr_t i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], &attributes, code, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    pthread_attr_destroy(&attributes);
}

static long resident_bytes(void)
{
    long total = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    EXPECT(file != NULL && fscanf(file, "%ld %ld", &total, &resident) == 2);
    fclose(file);
    return resident * sysconf(_SC_PAGESIZE);
}

/* One of each object, `count` times, and some launches. */
static void soak(uint32_t count)
{
    const ze_group_count_t groups = {1, 1, 1};
    for (uint32_t round = 0; round < count; round++) {
        ze_command_queue_handle_t own_queue = make_queue();
        ze_fence_handle_t fence = make_fence(own_queue);
        ze_command_list_handle_t list = make_list();
        ze_kernel_handle_t kernel = make_kernel(module);
        uint32_t *out = make_host(100000);
        set_probe(kernel, out, round, 4);
        OK(zeCommandListAppendLaunchKernel(list, kernel, &groups, NULL, 0, NULL));
        OK(zeCommandListAppendMemoryCopy(list, out + 10, out, 16, NULL, 0, NULL));
        for (int i = 0; i < 10; i++) OK(zeCommandListAppendLaunchKernel(list, shared, &groups, NULL, 0, NULL));
        OK(zeCommandListClose(list));
        OK(zeCommandQueueExecuteCommandLists(own_queue, 1, &list, fence));
        OK(zeFenceHostSynchronize(fence, UINT64_MAX));
        EXPECT(is_probed(out, 4, round, 4) && is_probed(out + 10, 4, round, 4));
        OK(zeMemFree(context, out));
        OK(zeKernelDestroy(kernel));
        OK(zeCommandListDestroy(list));
        OK(zeFenceDestroy(fence));
        OK(zeCommandQueueDestroy(own_queue));
        /* PoCL keeps less than a kilobyte of each module. */
        if (round % 10 == 0) OK(zeModuleDestroy(make_module(path)));
    }
}

int main(int argc, char **argv)
{
    EXPECT(argc >= 3);
    path = argv[1];
    open_device();
    module = make_module(path);
    shared = make_kernel(module);
    queue = make_queue();
    memory = make_host(BYTES);
    set_probe(shared, memory, 3, 4);
    if (strcmp(argv[2], "threads") == 0) {
        run_threads(work);
    } else {
        enum { WARM_UP = 200, MANY = 1000 };
        soak(WARM_UP);
        const live_objects before = count_live();
        const long resident = resident_bytes();
        soak(MANY);
        EXPECT(count_live().launches - before.launches == 11 * MANY && count_live().copies - before.copies == MANY);
        printf("%ld\n", resident_bytes() - resident);
    }
    OK(zeMemFree(context, memory));
    OK(zeCommandQueueDestroy(queue));
    OK(zeKernelDestroy(shared));
    OK(zeModuleDestroy(module));
    OK(zeContextDestroy(context));
    live_objects live = count_live();
    live.launches = live.copies = 0;
    EXPECT(memcmp(&live, &(live_objects){0}, sizeof live) == 0);
    return 0;
}
