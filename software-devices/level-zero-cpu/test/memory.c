/* Allocations, their properties and what they cost, copies and fills. LEVEL_ZERO_CPU_MEMORY has to be 64 MiB. */
#include "support.h"

static const size_t MIB = 1 << 20;

static ze_result_t allocate(size_t bytes, size_t alignment, const void *next, void **memory)
{
    const ze_device_mem_alloc_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, .pNext = next};
    return zeMemAllocDevice(context, &desc, bytes, alignment, device, memory);
}

static void accounting(void)
{
    const ze_relaxed_allocation_limits_exp_desc_t relaxed = {.stype =
                                                                 ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC,
                                                             .flags = ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE};
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    void *first, *second, *third;
    OK(zeDeviceGetProperties(device, &properties));
    EXPECT(properties.maxMemAllocSize == 64 * MIB);
    EXPECT_RESULT(allocate(65 * MIB, 0, NULL, &first), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
    EXPECT_RESULT(allocate(65 * MIB, 0, &relaxed, &first), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    OK(allocate(64 * MIB, 0, NULL, &first));
    EXPECT_RESULT(allocate(1, 0, NULL, &second), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    OK(zeMemFree(context, first));
    OK(allocate(40 * MIB, 0, NULL, &first));
    EXPECT_RESULT(allocate(30 * MIB, 0, NULL, &second), ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY);
    second = make_shared(20 * MIB);
    /* Host memory is not the device's. */
    const ze_host_mem_alloc_desc_t host_desc = {.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC};
    OK(zeMemAllocHost(context, &host_desc, 32 * MIB, 0, &third));
    live_objects live = count_live();
    EXPECT(live.allocations == 3 && live.allocated_bytes == 92 * MIB);
    OK(zeMemFree(context, first));
    OK(zeMemFree(context, second));
    OK(zeMemFree(context, third));
    EXPECT(count_live().allocations == 0 && count_live().allocated_bytes == 0);
}

static void alignments(void)
{
    for (size_t alignment = 1; alignment <= 8 * MIB; alignment *= 2) {
        void *memory;
        OK(allocate(100, alignment, NULL, &memory));
        EXPECT((uintptr_t)memory % alignment == 0 && (uintptr_t)memory % 4096 == 0);
        memset(memory, 1, 100);
        OK(zeMemFree(context, memory));
    }
    void *memory;
    EXPECT_RESULT(allocate(100, 3, NULL, &memory), ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT);
    EXPECT_RESULT(allocate(0, 0, NULL, &memory), ZE_RESULT_ERROR_UNSUPPORTED_SIZE);
}

static void properties(void)
{
    ze_memory_allocation_properties_t of = {.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES};
    ze_device_handle_t owner = NULL;
    ze_context_handle_t other;
    const ze_context_desc_t desc = {.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC};
    char *memory = make_device(5000);
    void *base;
    size_t bytes;
    int local;
    OK(zeMemGetAllocProperties(context, memory + 4999, &of, &owner));
    EXPECT(of.type == ZE_MEMORY_TYPE_DEVICE && owner == device && of.pageSize == 4096);
    OK(zeMemGetAddressRange(context, memory + 100, &base, &bytes));
    EXPECT(base == memory && bytes == 5000);
    OK(zeMemGetAllocProperties(context, &local, &of, &owner));
    EXPECT(of.type == ZE_MEMORY_TYPE_UNKNOWN && owner == NULL);
    EXPECT_RESULT(zeMemGetAddressRange(context, memory + 5000, &base, &bytes), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeContextCreate(driver, &desc, &other));
    OK(zeMemGetAllocProperties(other, memory, &of, NULL));
    EXPECT(of.type == ZE_MEMORY_TYPE_UNKNOWN);
    EXPECT_RESULT(zeMemFree(other, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeContextDestroy(other));
    OK(zeContextMakeMemoryResident(context, device, memory, 5000));
    OK(zeContextEvictMemory(context, device, memory, 5000));
    EXPECT_RESULT(zeMemFree(context, memory + 1), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeMemFree(context, memory));
    EXPECT_RESULT(zeMemFree(context, memory), ZE_RESULT_ERROR_INVALID_ARGUMENT);
}

static void copies(void)
{
    ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint8_t *memory = make_device(MIB), *other = make_shared(MIB), local[1000], pattern[128];
    for (size_t i = 0; i < sizeof local; i++) local[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof pattern; i++) pattern[i] = (uint8_t)(i + 1);
    OK(zeCommandListAppendMemoryCopy(list, memory + 1, local, 1000, NULL, 0, NULL));
    OK(zeCommandListAppendMemoryCopyFromContext(list, other, context, memory, 1001, NULL, 0, NULL));
    EXPECT(memcmp(other + 1, local, 1000) == 0);
    OK(zeCommandListAppendMemoryCopy(list, NULL + (uintptr_t)memory, memory, 0, NULL, 0, NULL));
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, memory + MIB - 10, local, 11, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendMemoryCopy(list, local, memory + MIB - 10, 11, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    for (size_t bytes = 1; bytes <= 128; bytes *= 2) {
        const size_t sizes[] = {1, 127, 4096, 300001};
        for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
            memset(other, 0, MIB);
            OK(zeCommandListAppendMemoryFill(list, other, pattern, bytes, sizes[s], NULL, 0, NULL));
            for (size_t i = 0; i < sizes[s]; i++) EXPECT(other[i] == pattern[i % bytes]);
            EXPECT(other[sizes[s]] == 0);
        }
    }
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, other, pattern, 3, 30, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    EXPECT_RESULT(zeCommandListAppendMemoryFill(list, other, local, 256, 512, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zeCommandListAppendMemoryPrefetch(list, other, MIB));
    OK(zeCommandListAppendMemAdvise(list, device, other, MIB, ZE_MEMORY_ADVICE_SET_READ_MOSTLY));
    EXPECT_RESULT(zeCommandListAppendMemoryPrefetch(list, local, 10), ZE_RESULT_ERROR_INVALID_ARGUMENT);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, memory));
    OK(zeMemFree(context, other));
}

static void regions(void)
{
    enum { WIDTH = 40, HEIGHT = 30, DEPTH = 5 };
    ze_command_list_handle_t list = make_immediate(ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    uint8_t *from = make_shared(WIDTH * HEIGHT * DEPTH), *to = make_shared(WIDTH * HEIGHT * DEPTH);
    for (int i = 0; i < WIDTH * HEIGHT * DEPTH; i++) from[i] = (uint8_t)(i * 31 + i / 251);
    const ze_copy_region_t source = {3, 4, 1, 11, 6, 2}, target = {20, 10, 2, 11, 6, 2};
    OK(zeCommandListAppendMemoryCopyRegion(list, to, &target, WIDTH, WIDTH * HEIGHT, from, &source, WIDTH,
                                           WIDTH * HEIGHT, NULL, 0, NULL));
    for (int z = 0; z < DEPTH; z++)
        for (int y = 0; y < HEIGHT; y++)
            for (int x = 0; x < WIDTH; x++) {
                const bool inside = x >= 20 && x < 31 && y >= 10 && y < 16 && z >= 2 && z < 4;
                const int at = ((z - 1) * HEIGHT + y - 6) * WIDTH + x - 17;
                EXPECT(to[(z * HEIGHT + y) * WIDTH + x] == (inside ? from[at] : 0));
            }
    /* Two halves of the same rows lie between each other, and do not overlap. */
    const ze_copy_region_t left = {0, 0, 0, 20, HEIGHT, 0}, right = {20, 0, 0, 20, HEIGHT, 0},
                           middle = {19, 0, 0, 20, HEIGHT, 0};
    OK(zeCommandListAppendMemoryCopyRegion(list, from, &right, WIDTH, 0, from, &left, WIDTH, 0, NULL, 0, NULL));
    for (int y = 0; y < HEIGHT; y++) EXPECT(memcmp(from + y * WIDTH, from + y * WIDTH + 20, 20) == 0);
    EXPECT_RESULT(
        zeCommandListAppendMemoryCopyRegion(list, from, &middle, WIDTH, 0, from, &left, WIDTH, 0, NULL, 0, NULL),
        ZE_RESULT_ERROR_OVERLAPPING_REGIONS);
    const ze_copy_region_t high = {0, 0, 0, 20, HEIGHT * DEPTH + 1, 0};
    EXPECT_RESULT(zeCommandListAppendMemoryCopyRegion(list, from, &high, WIDTH, 0, to, &high, WIDTH, 0, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_ARGUMENT);
    EXPECT_RESULT(zeCommandListAppendMemoryCopyRegion(list, from, &left, 10, 0, to, &left, WIDTH, 0, NULL, 0, NULL),
                  ZE_RESULT_ERROR_INVALID_SIZE);
    OK(zeCommandListDestroy(list));
    OK(zeMemFree(context, from));
    OK(zeMemFree(context, to));
}

/* Memory may be freed while it is used: it goes away when the work is done, and a blocking free waits for that. */
static void frees_while_used(void)
{
    const ze_memory_free_ext_desc_t blocking = {.stype = ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC,
                                                .freePolicy = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE};
    ze_command_queue_handle_t queue = make_queue();
    ze_command_list_handle_t list = make_list();
    uint8_t *to = make_device(16 * MIB), *from = make_device(16 * MIB);
    OK(zeCommandListAppendMemoryCopy(list, to, from, 16 * MIB, NULL, 0, NULL));
    OK(zeCommandListClose(list));
    delay_next(50 * MILLISECOND);
    const uint64_t start = now();
    OK(zeCommandQueueExecuteCommandLists(queue, 1, &list, NULL));
    OK(zeMemFreeExt(context, &blocking, to));
    EXPECT(now() - start >= 50 * MILLISECOND);
    OK(zeCommandQueueSynchronize(queue, 0));
    OK(zeMemFree(context, from));
    OK(zeCommandListDestroy(list));
    OK(zeCommandQueueDestroy(queue));
}

int main(void)
{
    open_device();
    accounting();
    alignments();
    properties();
    copies();
    regions();
    frees_while_used();
    OK(zeContextDestroy(context));
    return 0;
}
