/*
 * Four threads make, use and destroy the same objects at random, against all rules of who may do what when: any code may
 * come back, but no crash and no hang, and in the end nothing is left. `chaos probe.spv SEED`
 */
#include "support.h"
#include <pthread.h>
#include <stdatomic.h>

enum { THREADS = 4, STEPS = 6000, SLOTS = 6, BYTES = 4096 };

/* Handles are read and replaced by all threads at once. */
static void *_Atomic queues[SLOTS];
static void *_Atomic lists[SLOTS];
static void *_Atomic fences[SLOTS];
static void *_Atomic pools[SLOTS];
static void *_Atomic events[SLOTS];
static void *_Atomic kernels[SLOTS];
static ze_module_handle_t module;
static uint8_t *memory;
static unsigned seed;

static uint32_t next(uint32_t *state, uint32_t below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* Puts what was made into its slot, or destroys it where the slot is taken. */
#define KEEP(slots, destroy)                                                                                           \
    do {                                                                                                               \
        void *empty = NULL;                                                                                            \
        if (!atomic_compare_exchange_strong(&slots[slot], &empty, made)) destroy(made);                                \
    } while (0)

static void make(uint32_t kind, uint32_t slot, uint32_t other)
{
    const ze_command_queue_desc_t queue = {.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC,
                                           .mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS};
    const ze_command_list_desc_t list = {.stype = ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC};
    const ze_fence_desc_t fence = {.stype = ZE_STRUCTURE_TYPE_FENCE_DESC};
    const ze_event_pool_desc_t pool = {.stype = ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, .flags = 5, .count = 4};
    const ze_event_desc_t event = {.stype = ZE_STRUCTURE_TYPE_EVENT_DESC, .index = other % 4};
    const ze_kernel_desc_t kernel = {.stype = ZE_STRUCTURE_TYPE_KERNEL_DESC, .pKernelName = "probe"};
    void *made = NULL;
    if (kind == 0 && zeCommandQueueCreate(context, device, &queue, (void *)&made) == 0)
        KEEP(queues, zeCommandQueueDestroy);
    if (kind == 1 && slot % 2 == 0 && zeCommandListCreate(context, device, &list, (void *)&made) == 0)
        KEEP(lists, zeCommandListDestroy);
    if (kind == 1 && slot % 2 == 1 && zeCommandListCreateImmediate(context, device, &queue, (void *)&made) == 0)
        KEEP(lists, zeCommandListDestroy);
    if (kind == 2 && zeFenceCreate(queues[other], &fence, (void *)&made) == 0) KEEP(fences, zeFenceDestroy);
    if (kind == 3 && zeEventPoolCreate(context, &pool, 0, NULL, (void *)&made) == 0) KEEP(pools, zeEventPoolDestroy);
    if (kind == 4 && zeEventCreate(pools[other], &event, (void *)&made) == 0) KEEP(events, zeEventDestroy);
    if (kind == 5 && zeKernelCreate(module, &kernel, (void *)&made) == 0) {
        set_probe(made, memory, slot, 4);
        KEEP(kernels, zeKernelDestroy);
    }
}

static void destroy(uint32_t kind, uint32_t slot)
{
    if (kind == 0 && zeCommandQueueDestroy(queues[slot]) == 0) queues[slot] = NULL;
    if (kind == 1 && zeCommandListDestroy(lists[slot]) == 0) lists[slot] = NULL;
    if (kind == 2 && zeFenceDestroy(fences[slot]) == 0) fences[slot] = NULL;
    if (kind == 3 && zeEventPoolDestroy(pools[slot]) == 0) pools[slot] = NULL;
    if (kind == 4 && zeEventDestroy(events[slot]) == 0) events[slot] = NULL;
    if (kind == 5 && zeKernelDestroy(kernels[slot]) == 0) kernels[slot] = NULL;
}

static void use(uint32_t what, uint32_t slot, uint32_t other)
{
    const ze_group_count_t groups = {1 + other, 1, 1};
    ze_command_list_handle_t list = lists[slot];
    ze_event_handle_t event = events[other], signal = events[slot];
    switch (what) {
    case 0:
        zeCommandListAppendLaunchKernel(list, kernels[other], &groups, signal, 0, NULL);
        break;
    case 1:
        zeCommandListAppendMemoryCopy(list, memory, memory + BYTES / 2, 100, signal, event != NULL, &event);
        break;
    case 2:
        zeCommandListAppendMemoryFill(list, memory, &groups, 8, 999, signal, 0, NULL);
        break;
    case 3:
        zeCommandListAppendBarrier(list, signal, event != NULL, &event);
        break;
    case 4:
        zeCommandListAppendEventReset(list, event);
        break;
    case 5:
        zeCommandListClose(list);
        break;
    case 6:
        zeCommandListReset(list);
        break;
    case 7:
        zeCommandQueueExecuteCommandLists(queues[other], 1, &list, fences[other]);
        break;
    case 8:
        zeCommandQueueSynchronize(queues[other], 100000);
        break;
    case 9:
        zeFenceHostSynchronize(fences[slot], 100000);
        break;
    case 10:
        zeFenceReset(fences[slot]);
        break;
    case 11:
        zeEventHostSynchronize(event, 100000);
        break;
    default:
        zeEventHostSignal(event);
        break;
    }
}

static void *work(void *number)
{
    uint32_t state = seed * 977u + (uint32_t)(uintptr_t)number;
    for (int step = 0; step < STEPS; step++) {
        const uint32_t action = next(&state, 10), slot = next(&state, SLOTS), other = next(&state, SLOTS);
        if (action < 2) make(next(&state, 6), slot, other);
        else if (action == 2) destroy(next(&state, 6), slot);
        else use(next(&state, 14), slot, other);
    }
    return NULL;
}

int main(int argc, char **argv)
{
    pthread_t threads[THREADS];
    EXPECT(argc == 3);
    seed = (unsigned)atoi(argv[2]);
    open_device();
    module = make_module(argv[1]);
    memory = make_shared(BYTES);
    for (uintptr_t i = 0; i < THREADS; i++) EXPECT(pthread_create(&threads[i], NULL, work, (void *)i) == 0);
    for (int i = 0; i < THREADS; i++) pthread_join(threads[i], NULL);
    /* Some work may wait for an event that no one signals any more; on a lost device nothing waits. */
    lose_device();
    for (uint32_t round = 0; round < 2; round++)
        for (uint32_t kind = 6; kind-- > 0;)
            for (uint32_t slot = 0; slot < SLOTS; slot++) destroy(kind, slot);
    OK(zeModuleDestroy(module));
    OK(zeMemFree(context, memory));
    OK(zeContextDestroy(context));
    live_objects live = count_live();
    EXPECT(live.launches > 0 && live.copies > 0);
    live.launches = live.copies = 0;
    EXPECT(memcmp(&live, &(live_objects){0}, sizeof live) == 0);
    return 0;
}
