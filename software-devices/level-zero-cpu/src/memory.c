#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct grave {
    struct grave *next;
    char *base;
    size_t mapped;
    uint64_t ticket; /* work up to here may use it */
} grave;

typedef struct {
    char *base;
    size_t bytes; /* as asked for */
    bool is_host;
    context *context;
    size_t mapped;
    grave *grave; /* made with it, so that to free never needs memory */
} entry;

static const size_t HUGE_PAGE = (size_t)2 << 20;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static entry **entries; /* by address */
static size_t count, capacity;
static uint64_t device_bytes, host_bytes, asked_bytes;
static grave *graves;
static atomic_bool has_graves;

static size_t round_up(size_t bytes, size_t to)
{
    return (bytes + to - 1) & ~(to - 1);
}

/* Pages at a multiple of `alignment`, which is one of a page's; or NULL. */
static char *map(size_t mapped, size_t alignment, size_t page)
{
    /* Some more, of which the ends that stick out of a well aligned middle are given back. */
    const size_t more = alignment - page;
    if (mapped > SIZE_MAX / 2 - more) return NULL;
    char *start = mmap(NULL, mapped + more, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (start == MAP_FAILED) return NULL;
    const size_t before = round_up((size_t)start, alignment) - (size_t)start;
    char *base = start + before;
    if (before > 0) munmap(start, before);
    if (before < more) munmap(base + mapped, more - before);
    if (mapped >= HUGE_PAGE) madvise(base, mapped, MADV_HUGEPAGE);
    return base;
}

/* Inside the lock: how many entries start at or before an address. */
static size_t position(const void *address)
{
    size_t low = 0, high = count;
    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (entries[middle]->base <= (const char *)address) low = middle + 1;
        else high = middle;
    }
    return low;
}

static bool is_within(const entry *in, const void *address)
{
    return (size_t)((const char *)address - in->base) < in->bytes;
}

place range_place(const context *context, const void *address, size_t bytes)
{
    place result = PLACE_OUTSIDE;
    const uintptr_t start = (uintptr_t)address;
    pthread_mutex_lock(&lock);
    const size_t at = position(address);
    if (at > 0 && is_within(entries[at - 1], address)) {
        const entry *in = entries[at - 1];
        const bool fits = bytes <= in->bytes - (size_t)((const char *)address - in->base);
        result = fits && in->context == context ? PLACE_INSIDE : PLACE_BROKEN;
    } else if (bytes > UINTPTR_MAX - start || (at < count && (uintptr_t)entries[at]->base < start + bytes)) {
        result = PLACE_BROKEN;
    }
    pthread_mutex_unlock(&lock);
    return result;
}

/* Inside the lock: room for one more entry. */
static bool reserve_entry(void)
{
    if (count < capacity) return true;
    const size_t larger = capacity == 0 ? 64 : capacity * 2;
    entry **moved = realloc(entries, larger * sizeof *moved);
    if (moved == NULL) return false;
    entries = moved;
    capacity = larger;
    return true;
}

static ze_result_t out_of_memory(bool is_host)
{
    return is_host ? ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Inside the lock. */
static ze_result_t add(entry *added, size_t alignment, size_t page)
{
    const bool is_host = added->is_host;
    const uint64_t limit = is_host ? settings.engine.physical_bytes : settings.memory_bytes;
    uint64_t *used = is_host ? &host_bytes : &device_bytes;
    if (added->mapped > limit || *used > limit - added->mapped || !reserve_entry()) return out_of_memory(is_host);
    added->base = map(added->mapped, alignment, page);
    if (added->base == NULL) return out_of_memory(is_host);
    const size_t at = position(added->base);
    memmove(entries + at + 1, entries + at, (count++ - at) * sizeof *entries);
    entries[at] = added;
    *used += added->mapped;
    asked_bytes += added->bytes;
    return ZE_RESULT_SUCCESS;
}

/* Alignment is a power of two or 0. */
static ze_result_t allocate(context *context, bool is_host, size_t bytes, size_t alignment, void **address)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t least = bytes >= HUGE_PAGE ? HUGE_PAGE : page;
    entry *added = malloc(sizeof *added);
    grave *grave = malloc(sizeof *grave);
    ze_result_t result = ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (added != NULL && grave != NULL) {
        *added = (entry){
            .bytes = bytes, .is_host = is_host, .context = context, .mapped = round_up(bytes, page), .grave = grave};
        pthread_mutex_lock(&lock);
        result = add(added, alignment > least ? alignment : least, page);
        if (result == ZE_RESULT_SUCCESS) *address = added->base;
        pthread_mutex_unlock(&lock);
    }
    if (result == ZE_RESULT_SUCCESS) {
        adopt(&context->base);
    } else {
        free(added);
        free(grave);
    }
    return result;
}

void sweep_allocations(void)
{
    if (!atomic_load_explicit(&has_graves, memory_order_acquire)) return;
    const uint64_t unfinished = oldest_unfinished_ticket();
    pthread_mutex_lock(&lock);
    for (grave **link = &graves; *link != NULL;) {
        grave *done = *link;
        if (done->ticket >= unfinished) {
            link = &done->next;
            continue;
        }
        *link = done->next;
        munmap(done->base, done->mapped);
        free(done);
    }
    atomic_store_explicit(&has_graves, graves != NULL, memory_order_release);
    pthread_mutex_unlock(&lock);
}

/* ZE_RESULT_ERROR_INVALID_ARGUMENT where no allocation starts there. */
static ze_result_t free_allocation(context *context, void *address)
{
    pthread_mutex_lock(&lock);
    const size_t at = position(address);
    entry *freed = at > 0 ? entries[at - 1] : NULL;
    if (freed == NULL || freed->base != address || freed->context != context) {
        pthread_mutex_unlock(&lock);
        return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    memmove(entries + at - 1, entries + at, (count-- - at) * sizeof *entries);
    *(freed->is_host ? &host_bytes : &device_bytes) -= freed->mapped;
    asked_bytes -= freed->bytes;
    *freed->grave = (grave){graves, freed->base, freed->mapped, newest_ticket()};
    graves = freed->grave;
    atomic_store_explicit(&has_graves, true, memory_order_release);
    pthread_mutex_unlock(&lock);
    free(freed);
    disown(&context->base);
    object_drop(&context->base);
    sweep_allocations();
    return ZE_RESULT_SUCCESS;
}

void count_allocations(uint64_t *allocations, uint64_t *bytes)
{
    pthread_mutex_lock(&lock);
    *allocations = count;
    *bytes = asked_bytes;
    pthread_mutex_unlock(&lock);
}

/* The memory functions of the API. */

enum {
    DEVICE_FLAGS = ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                   ZE_DEVICE_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT,
    HOST_FLAGS = ZE_HOST_MEM_ALLOC_FLAG_BIAS_CACHED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_UNCACHED |
                 ZE_HOST_MEM_ALLOC_FLAG_BIAS_WRITE_COMBINED | ZE_HOST_MEM_ALLOC_FLAG_BIAS_INITIAL_PLACEMENT
};
static const size_t MAX_ALIGNMENT = (size_t)1 << 30;

/* True if the chain of extensions of a descriptor lifts the limit of one allocation. */
static bool is_relaxed(const void *next)
{
    for (const ze_base_desc_t *desc = next; desc != NULL; desc = desc->pNext) {
        const ze_relaxed_allocation_limits_exp_desc_t *relaxed = (const void *)desc;
        if (desc->stype == ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC &&
            relaxed->flags & ZE_RELAXED_ALLOCATION_LIMITS_EXP_FLAG_MAX_SIZE)
            return true;
    }
    return false;
}

static ze_result_t check_size(size_t size, size_t alignment, const void *next)
{
    if (size == 0) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    if ((alignment & (alignment - 1)) != 0 || alignment > MAX_ALIGNMENT) return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
    if (size > settings.memory_bytes && !is_relaxed(next)) return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
    return device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t zeMemAllocDevice(ze_context_handle_t hContext, const ze_device_mem_alloc_desc_t *device_desc, size_t size,
                             size_t alignment, ze_device_handle_t hDevice, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (device_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_desc->flags > DEVICE_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (device_desc->ordinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    TRY(check_size(size, alignment, device_desc->pNext));
    return allocate(in, false, size, alignment, pptr);
}

ze_result_t zeMemAllocHost(ze_context_handle_t hContext, const ze_host_mem_alloc_desc_t *host_desc, size_t size,
                           size_t alignment, void **pptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    if (host_desc == NULL || pptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (host_desc->flags > HOST_FLAGS) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    TRY(check_size(size, alignment, host_desc->pNext));
    return allocate(in, true, size, alignment, pptr);
}

ze_result_t zeMemFree(ze_context_handle_t hContext, void *ptr)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    return ptr == NULL ? ZE_RESULT_ERROR_INVALID_NULL_POINTER : free_allocation(in, ptr);
}
