#include "driver.h"

#include <stdlib.h>

typedef struct piece {
    struct piece *next;
    size_t used, bytes;
    _Alignas(16) char memory[];
} piece;

struct recording {
    atomic_uint references, executions;
    piece *pieces;
    command *first, *last;
};

static const size_t FIRST_PIECE = 16 << 10, LATER_PIECE = 32 << 10;

static bool add_piece(recording *to, size_t bytes)
{
    piece *added = malloc(sizeof *added + bytes);
    if (added == NULL) return false;
    *added = (piece){.next = to->pieces, .bytes = bytes};
    to->pieces = added;
    return true;
}

/* An empty one; NULL where memory is short. */
static recording *recording_create(void)
{
    recording *made = calloc(1, sizeof *made);
    if (made == NULL || !add_piece(made, FIRST_PIECE)) {
        free(made);
        return NULL;
    }
    atomic_init(&made->references, 1);
    atomic_init(&made->executions, 0);
    return made;
}

void recording_keep(recording *kept)
{
    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
}

void recording_drop(recording *dropped)
{
    if (atomic_fetch_sub_explicit(&dropped->references, 1, memory_order_acq_rel) != 1) return;
    for (const command *each = dropped->first; each != NULL; each = each->next)
        if (each->kind == COMMAND_LAUNCH) {
            object_drop(&each->kernel->base);
            if (each->signal != NULL) object_drop(&each->signal->base);
        }
    for (piece *next, *each = dropped->pieces; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(dropped);
}

void recording_begin(recording *of)
{
    atomic_fetch_add(&of->executions, 1);
}

void recording_end(recording *of)
{
    atomic_fetch_sub(&of->executions, 1);
}

/* Memory that lasts as long as the recording, zeroed, at a multiple of 16; NULL where memory is short. */
static void *recording_take(recording *from, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t taken = (bytes + 15) & ~(size_t)15;
    if (from->pieces->bytes - from->pieces->used < taken && !add_piece(from, taken > LATER_PIECE ? taken : LATER_PIECE))
        return NULL;
    char *memory = from->pieces->memory + from->pieces->used;
    from->pieces->used += taken;
    return memset(memory, 0, taken);
}

/* Adds a copy of a command after the others, which keeps its kernel. */
static ze_result_t recording_add(recording *to, const command *given)
{
    command *added = recording_take(to, sizeof *added);
    if (added == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *added = *given;
    if (added->kind == COMMAND_LAUNCH) {
        object_keep(&added->kernel->base);
        if (added->signal != NULL) object_keep(&added->signal->base);
    }
    if (to->last == NULL) to->first = added;
    else to->last->next = added;
    to->last = added;
    return ZE_RESULT_SUCCESS;
}

const command *recording_first(const recording *of)
{
    return of->first;
}

/* Command lists, and how a command gets into one. */

typedef struct {
    object base;
    context *context;
    pthread_mutex_t lock;
    bool is_closed; /* this and the recording inside the lock */
    recording *recording;
} command_list;

static void unlock(pthread_mutex_t *const *lock)
{
    pthread_mutex_unlock(*lock);
}

/* Holds the lock of a list until the block ends. */
#define LOCK(list)                                                                                                     \
    __attribute__((cleanup(unlock))) pthread_mutex_t *const locked = &(list)->lock;                                    \
    pthread_mutex_lock(locked)

static void release_list(object *released)
{
    command_list *list = (command_list *)released;
    recording_drop(list->recording);
    pthread_mutex_destroy(&list->lock);
}

ze_result_t zeCommandListCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                const ze_command_list_desc_t *desc, ze_command_list_handle_t *phCommandList)
{
    HOLD(context, in, hContext, KIND_CONTEXT);
    HOLD(device, on, hDevice, KIND_DEVICE);
    if (desc == NULL || phCommandList == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const ze_command_list_flags_t flags = ZE_COMMAND_LIST_FLAG_RELAXED_ORDERING |
                                          ZE_COMMAND_LIST_FLAG_MAXIMIZE_THROUGHPUT | ZE_COMMAND_LIST_FLAG_EXPLICIT_ONLY;
    if (desc->flags > flags) return ZE_RESULT_ERROR_INVALID_ENUMERATION;
    if (desc->commandQueueGroupOrdinal != 0) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    command_list *made = object_make(sizeof *made, KIND_LIST, &in->base, release_list);
    if (made == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    made->context = in;
    pthread_mutex_init(&made->lock, NULL);
    made->recording = recording_create();
    if (made->recording != NULL) return object_open(made, phCommandList);
    object_drop(&made->base);
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
}

static ze_result_t check_idle(const command_list *list)
{
    const bool in_use = !device_is_lost() && atomic_load(&list->recording->executions) > 0;
    return in_use ? ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE : ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListDestroy(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, destroyed, hCommandList, KIND_LIST);
    LOCK(destroyed);
    TRY(check_idle(destroyed));
    return object_close(&destroyed->base);
}

ze_result_t zeCommandListClose(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, list, hCommandList, KIND_LIST);
    LOCK(list);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (list->is_closed) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    list->is_closed = true;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListReset(ze_command_list_handle_t hCommandList)
{
    HOLD(command_list, list, hCommandList, KIND_LIST);
    LOCK(list);
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    TRY(check_idle(list));
    recording *empty = recording_create();
    if (empty == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    recording_drop(list->recording);
    list->recording = empty;
    list->is_closed = false;
    return ZE_RESULT_SUCCESS;
}

ze_result_t command_list_recording(ze_command_list_handle_t handle, const context *context, recording **recording)
{
    HOLD(command_list, list, handle, KIND_LIST);
    LOCK(list);
    if (!list->is_closed || list->context != context) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    recording_keep(*recording = list->recording);
    return ZE_RESULT_SUCCESS;
}

/* Inside the lock. Only launches signal events, and nothing waits for them. */
static ze_result_t check_append(const command_list *to, ze_event_handle_t signal, uint32_t wait_count,
                                ze_event_handle_t *waits)
{
    if (waits == NULL && wait_count > 0) return ZE_RESULT_ERROR_INVALID_SIZE;
    if (signal != NULL || wait_count > 0) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    return to->is_closed ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
}

/* Declares `list`, the list behind a handle, locked until the block ends; returns where nothing can be appended to it. */
#define APPEND_TO(list, handle, signal, wait_count, waits)                                                             \
    HOLD(command_list, list, handle, KIND_LIST);                                                                       \
    LOCK(list);                                                                                                        \
    TRY(check_append(list, signal, wait_count, waits))

/* Notes what memory a command uses. ZE_RESULT_ERROR_INVALID_ARGUMENT where it reaches beyond its allocation. */
static ze_result_t note_operand(const command_list *to, const void *address, size_t bytes, operand *noted)
{
    const place where = range_place(to->context, address, bytes);
    if (where == PLACE_BROKEN) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    *noted = (operand){(char *)(uintptr_t)address, where == PLACE_INSIDE ? to->context : NULL};
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendBarrier(ze_command_list_handle_t hCommandList, ze_event_handle_t hSignalEvent,
                                       uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    APPEND_TO(list, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    return recording_add(list->recording, &(command){.kind = COMMAND_BARRIER});
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList, void *dstptr, const void *srcptr,
                                          size_t size, ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t *phWaitEvents)
{
    APPEND_TO(list, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (dstptr == NULL || srcptr == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    command copy = {.kind = COMMAND_COPY, .bytes = size};
    TRY(note_operand(list, dstptr, size, &copy.to));
    TRY(note_operand(list, srcptr, size, &copy.from));
    return recording_add(list->recording, &copy);
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList, void *ptr, const void *pattern,
                                          size_t pattern_size, size_t size, ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    APPEND_TO(list, hCommandList, hSignalEvent, numWaitEvents, phWaitEvents);
    if (ptr == NULL || pattern == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (pattern_size == 0 || pattern_size > MAX_FILL_PATTERN_BYTES || (pattern_size & (pattern_size - 1)) != 0)
        return ZE_RESULT_ERROR_INVALID_SIZE;
    command fill = {.kind = COMMAND_FILL, .bytes = size, .pattern_bytes = pattern_size};
    TRY(note_operand(list, ptr, size, &fill.to));
    fill.pattern = recording_take(list->recording, pattern_size);
    if (fill.pattern == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(fill.pattern, pattern, pattern_size);
    return recording_add(list->recording, &fill);
}

/* True if a kernel can be launched in a context as it is set. */
static ze_result_t check_kernel(const kernel *launched, const context *context)
{
    const engine_kernel_info *info = launched->info;
    const uint64_t items = (uint64_t)launched->group_size[0] * launched->group_size[1] * launched->group_size[2];
    if (launched->module->context != context) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    for (uint32_t i = 0; i < info->argument_count; i++) {
        const kernel_argument *argument = &launched->arguments[i];
        if (!argument->is_set) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
        if (info->arguments[i].kind != ENGINE_POINTER) continue;
        const void *address;
        memcpy(&address, launched->values + argument->offset, sizeof address);
        /* It was alive when it was set, but may have been freed since. */
        if (address != NULL && range_place(context, address, 1) != PLACE_INSIDE)
            return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    }
    const bool fits = info->local_bytes <= settings.engine.max_local_bytes &&
                      info->private_bytes * items <= ENGINE_MAX_PRIVATE_BYTES;
    return fits ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
}

/* Copies all that the kernel is set to now into the command. */
static ze_result_t snapshot(recording *to, kernel *launched, const uint32_t groups[3], command *command)
{
    const uint32_t count = launched->info->argument_count;
    const void **values = recording_take(to, count * sizeof *values);
    char *copied = recording_take(to, launched->value_bytes);
    if (values == NULL || copied == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    memcpy(copied, launched->values, launched->value_bytes);
    for (uint32_t i = 0; i < count; i++) values[i] = copied + launched->arguments[i].offset;
    command->kernel = launched;
    command->launch = (engine_launch){.kernel = launched->engine, .values = values};
    memcpy(command->launch.groups, groups, sizeof command->launch.groups);
    memcpy(command->launch.group_size, launched->group_size, sizeof launched->group_size);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeCommandListAppendLaunchKernel(ze_command_list_handle_t hCommandList, ze_kernel_handle_t hKernel,
                                            const ze_group_count_t *pLaunchFuncArgs, ze_event_handle_t hSignalEvent,
                                            uint32_t numWaitEvents, ze_event_handle_t *phWaitEvents)
{
    APPEND_TO(list, hCommandList, NULL, numWaitEvents, phWaitEvents);
    __attribute__((cleanup(object_drop_variable))) event *signal = object_acquire(hSignalEvent, KIND_EVENT);
    if (hSignalEvent != NULL && signal == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (pLaunchFuncArgs == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    HOLD(kernel, launched, hKernel, KIND_KERNEL);
    TRY(check_kernel(launched, list->context));
    const uint32_t groups[3] = {pLaunchFuncArgs->groupCountX, pLaunchFuncArgs->groupCountY,
                                pLaunchFuncArgs->groupCountZ};
    for (int i = 0; i < 3; i++)
        if (groups[i] > INT32_MAX) return ZE_RESULT_ERROR_INVALID_ARGUMENT;
    command launch = {.kind = COMMAND_LAUNCH, .signal = signal};
    TRY(snapshot(list->recording, launched, groups, &launch));
    return recording_add(list->recording, &launch);
}
