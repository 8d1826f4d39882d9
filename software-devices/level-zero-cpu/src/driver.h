/* The driver above the engine: objects and handles, memory, faults, modules, recordings and what runs them. */
#ifndef DRIVER_H
#define DRIVER_H

/*
 * The Level Zero headers with API functions that stay inside this library: a driver that exports `zeInit` takes the
 * place of the loader's own and can hang the process. Include it before anything that includes ze_api.h.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#define ZE_APIEXPORT
#include <level_zero/ze_api.h>
#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include "engine.h"

/* The number of items of a list to write, by Level Zero's rule for counts; updates `*count`. */
static inline uint32_t items_to_write(uint32_t *count, uint32_t available, const void *items)
{
    const uint32_t asked = *count;
    if (asked == 0 || asked > available) *count = available;
    return items == NULL ? 0 : asked < available ? asked : available;
}

/*
 * Handles and the objects behind them. A handle is a number, never a pointer, so that one that was freed, made up or of
 * another kind is noticed. Objects are counted: work on the device keeps what it uses, whatever the program destroys.
 */

typedef enum {
    KIND_DRIVER,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_LIST,
    KIND_FENCE,
    KIND_MODULE,
    KIND_BUILD_LOG,
    KIND_KERNEL,
    KIND_EVENT_POOL,
    KIND_EVENT,
    KIND_COUNT
} object_kind;

/* The first member of every object. */
typedef struct object {
    object_kind kind;
    atomic_uint references;
    atomic_uint children;  /* objects made from this one that have not been destroyed */
    struct object *parent; /* which it keeps; NULL for none */
    uintptr_t handle;
    void (*release)(struct object *); /* what it holds beside its own memory; NULL for nothing */
} object;

/* A new object of `bytes`, zeroed but for this part, without a handle yet; NULL where memory is short. */
void *object_make(size_t bytes, object_kind kind, object *parent, void (*release)(object *));

/*
 * Gives what `object_make` made its handle, which goes to a variable of a handle type: its first reference is now the
 * program's, and it is a child of its parent.
 * ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, also for NULL: then the object is gone.
 */
ze_result_t object_open(void *made, void *handle);

/* The live object behind a handle with one more reference, or NULL where it is not of this kind or not alive. */
void *object_acquire(const void *handle, object_kind kind);

/* One more reference to an object that the caller already holds. */
void object_keep(object *object);

/* One reference less; the last one frees. */
void object_drop(object *object);

/* Makes the handle invalid and drops its reference. ZE_RESULT_ERROR_INVALID_NULL_HANDLE where another thread was first. */
ze_result_t object_close(object *object);

/* Counts one child more of a parent, which the child keeps from now on; and one less. */
void adopt(object *parent);
void disown(object *parent);

/* ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE while an object has children, unless the device is lost. */
ze_result_t may_be_destroyed(object *parent);

/* The number of live handles of a kind. */
uint64_t object_count(object_kind kind);

static inline void object_drop_variable(void *variable)
{
    object *held;
    memcpy(&held, variable, sizeof held);
    if (held != NULL) object_drop(held);
}

/* Declares `name`, the object behind a handle, held until the block ends; returns where there is none. */
#define HOLD(type, name, handle, kind)                                                                                 \
    __attribute__((cleanup(object_drop_variable))) type *name = object_acquire(handle, kind);                          \
    if (name == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE

/* Returns the result of a call that fails. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const ze_result_t tried = (call);                                                                              \
        if (tried != ZE_RESULT_SUCCESS) return tried;                                                                  \
    } while (0)

/* The owner of everything but the devices: it cannot be destroyed before what was made in it. */
typedef struct {
    object base;
} context;

/* Writes an object's handle to a variable of a handle type. */
#define HANDLE_OF(type, held) ((type)(held)->base.handle)

/* The settings of the driver: from the environment and from the engine. */

enum { MAX_SUB_DEVICES = 16 };

typedef struct {
    engine_info engine;
    uint64_t memory_bytes; /* of the device; host allocations are bounded by the machine's */
    uint32_t sub_devices;
} driver_settings;

/* Valid after `start_driver` succeeded. */
extern driver_settings settings;

/* Reads the environment and starts the engine, once per process; the first result stays. */
ze_result_t start_driver(void);

/*
 * The one lock around what changes while work runs (fences, progress of queues) and the one place to wait for a
 * change of it. Held for a few instructions at a time, never while work runs.
 */

/* Before anything else, once. */
void monitor_start(void);

void monitor_enter(void);
void monitor_leave(void);

/* Inside: wakes all who wait for a change. */
void monitor_notify(void);

/* Inside: waits on the caller's condition. */
void monitor_wait_on(pthread_cond_t *condition);

/* A condition to wait on inside the monitor. */
void monitor_condition(pthread_cond_t *condition);

/* The device's and the host's clock, in nanoseconds, which never goes back. */
uint64_t now_ns(void);

/*
 * Waits until `is_ready(what)`, which is asked inside the monitor. ZE_RESULT_NOT_READY when the timeout (nanoseconds)
 * is over, ZE_RESULT_ERROR_DEVICE_LOST as soon as the device is lost.
 */
ze_result_t wait_until(bool (*is_ready)(const void *what), const void *what, uint64_t timeout);

/* Faults on demand, and the consequences of real ones. */

/* True if the device is lost. It stays so: waits end, new work is refused, objects can still be destroyed. */
bool device_is_lost(void);

/* Loses the device; waits return at once, also those for a kernel that goes on running. */
void lose_device(void);

/* From `LEVEL_ZERO_CPU_LOSE_AFTER`: the device is lost at this command, counted from 1; 0 for never. */
void lose_after(uint64_t commands);

/* The next command that is executed takes that much longer. */
void delay_next(uint64_t nanoseconds);

/* Before each command: counts it, loses the device where that was ordered, sleeps where that was. False when lost. */
bool begin_command(void);

/* The device and its sub-devices, which last as long as the process. */

typedef struct {
    object base;
    uint32_t number; /* 0 for the whole device, 1 and up for its sub-devices */
} device;

/* Makes the device and its sub-devices. ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY. */
ze_result_t open_devices(void);

/* What properties report and calls check. */
enum { MAX_FILL_PATTERN_BYTES = 128 };

/*
 * Device and host memory: pages of the process, counted against what the device has. Memory that is freed while
 * work submitted before still runs is given back when that is done.
 */

typedef enum {
    PLACE_OUTSIDE, /* in no allocation: memory of the program's own */
    PLACE_INSIDE,  /* all of it in one allocation of the context */
    PLACE_BROKEN   /* reaches beyond its allocation, or is another context's */
} place;

/* Where a range of memory lies. An empty range lies where its address does. */
place range_place(const context *context, const void *address, size_t bytes);

/* Gives back what waited for work that is done now. Outside the monitor. */
void sweep_allocations(void);

/* The number of allocations, and of requested bytes. */
void count_allocations(uint64_t *count, uint64_t *bytes);

/* Modules and build logs. */

typedef struct {
    object base;
    context *context;
    engine_program *program;
    uint8_t *spirv; /* as given */
    size_t spirv_bytes;
} module;

/* Kernels: what will be launched, with the values set so far. */

typedef struct {
    bool is_set;
    size_t offset;        /* in the values */
} kernel_argument;

typedef struct {
    object base;
    module *module;
    engine_kernel *engine;
    const engine_kernel_info *info;
    kernel_argument *arguments;
    char *values;
    size_t value_bytes;
    uint32_t group_size[3];
} kernel;

/*
 * The commands of a list in order, with all they need, in the recording's own memory. A list that is reset gets a new one, so
 * one that is being executed never changes.
 */

typedef enum {
    COMMAND_BARRIER, /* in-order execution needs no more */
    COMMAND_LAUNCH,
    COMMAND_COPY,
    COMMAND_FILL
} command_kind;

/* A range of memory that a command uses. */
typedef struct {
    char *address;
    const context *context; /* of the allocation it was in when it was recorded, NULL for memory of the program's own */
} operand;

/* Signaled by launches alone, with the times when one began and ended. Nothing waits for it on the device. */
typedef struct {
    object base;
    atomic_bool is_signaled;
    uint64_t start, end; /* nanoseconds; of use when it is signaled */
} event;

typedef struct command {
    struct command *next;
    command_kind kind;
    union {
        struct {
            kernel *kernel;
            engine_launch launch;
            event *signal; /* NULL for none */
        };
        struct {
            operand to, from; /* a fill has no `from` */
            size_t bytes;
            char *pattern;
            size_t pattern_bytes;
        };
    };
} command;

typedef struct recording recording;

void recording_keep(recording *recording);

/* The last reference frees the commands and drops what they hold. */
void recording_drop(recording *recording);

/* Counts executions that are submitted and not done. */
void recording_begin(recording *recording);
void recording_end(recording *recording);

/* The first command, NULL for none. */
const command *recording_first(const recording *recording);

/*
 * The executor, which runs recordings in order: a thread per queue, started by the first work. Launches in a row of one
 * recording go to the engine without waiting; it waits for the engine where the host has to act, and at the end.
 */

typedef enum { FENCE_RESET, FENCE_PENDING, FENCE_SIGNALED } fence_state;

/* A child of its queue: the host waits with it for lists that the queue executes. */
typedef struct {
    object base;
    fence_state state; /* inside the monitor */
} fence;

typedef struct executor executor;

/* NULL where memory is short. */
executor *executor_create(void);

/*
 * Takes recordings (which it keeps) and a fence or NULL, which is signaled when they are done.
 * ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT where the fence is signaled or pending already.
 */
ze_result_t executor_submit(executor *executor, recording **recordings, uint32_t count, fence *fence);

/* Waits until all that was submitted before is done; timeout and results as of `wait_until`. */
ze_result_t executor_wait(executor *executor, uint64_t timeout);

/* True if all that was submitted is done. */
bool executor_is_idle(executor *executor);

/* For its owner: it ends as soon as its work is done or, on a lost device, when the running kernel ends. */
void executor_end(executor *executor);

/* Submissions of all executors are numbered. The number of the last one, and of the first that is not done. */
uint64_t newest_ticket(void);
uint64_t oldest_unfinished_ticket(void);

/* The number of executed launches and copies (including fills). */
void count_executed(uint64_t *launches, uint64_t *copies);

/* The recording of a closed list of the context, with one more reference, or what stands against executing it. */
ze_result_t command_list_recording(ze_command_list_handle_t list, const context *context, recording **recording);

#endif
