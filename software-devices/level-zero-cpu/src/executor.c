#include "driver.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

/* Runs commands, on an executor's thread. */

/* A stream of the engine, and whether something was enqueued on it since the last wait. */
typedef struct {
    engine_stream *stream;
    bool is_busy;
} worker;

static atomic_uint_fast64_t launches, copies;

void count_executed(uint64_t *launched, uint64_t *copied)
{
    *launched = atomic_load(&launches);
    *copied = atomic_load(&copies);
}

/* The device is lost, for a reason that no one ordered: says it, as no result code can. */
static void fail(const char *what, const char *name, ze_result_t result)
{
    fprintf(stderr, "level-zero-cpu: the device is lost: %s %s (0x%x)\n", what, name, (unsigned)result);
    lose_device();
}

/* Waits for the engine. */
static void finish(worker *on)
{
    if (!on->is_busy) return;
    on->is_busy = false;
    const ze_result_t result = engine_finish(on->stream);
    if (result != ZE_RESULT_SUCCESS) fail("work failed", "on the processor", result);
}

/* Like a page fault of a GPU: memory that was an allocation when the command was recorded has been freed. */
static bool is_alive(const operand *memory, size_t bytes)
{
    if (memory->context == NULL || bytes == 0 || range_place(memory->context, memory->address, bytes) == PLACE_INSIDE)
        return true;
    fail("a command uses memory that is freed,", "as if by a page fault", ZE_RESULT_ERROR_INVALID_ARGUMENT);
    return false;
}

static bool are_pointers_alive(const command *of)
{
    const engine_kernel_info *info = of->kernel->info;
    for (uint32_t i = 0; i < info->argument_count; i++) {
        if (info->arguments[i].kind != ENGINE_POINTER) continue;
        operand memory = {.context = of->kernel->module->context};
        memcpy(&memory.address, of->launch.values[i], sizeof memory.address);
        if (memory.address != NULL && !is_alive(&memory, 1)) return false;
    }
    return true;
}

static void launch(worker *on, const command *of)
{
    const uint32_t *groups = of->launch.groups;
    atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
    if (!are_pointers_alive(of)) return;
    /* One that is timed runs alone. */
    if (of->signal != NULL) {
        finish(on);
        of->signal->start = now_ns();
    }
    if (groups[0] > 0 && groups[1] > 0 && groups[2] > 0) {
        on->is_busy = true;
        const ze_result_t result = engine_enqueue(on->stream, &of->launch);
        if (result != ZE_RESULT_SUCCESS) fail("a launch failed:", of->kernel->info->name, result);
    }
    if (of->signal == NULL) return;
    finish(on);
    of->signal->end = now_ns();
    atomic_store(&of->signal->is_signaled, true);
}

static void fill(char *to, const char *pattern, size_t pattern_bytes, size_t bytes)
{
    enum { BLOCK = 1 << 16 };
    bool is_one_byte = true;
    for (size_t i = 1; i < pattern_bytes; i++) is_one_byte = is_one_byte && pattern[i] == pattern[0];
    if (is_one_byte) {
        memset(to, pattern[0], bytes);
        return;
    }
    size_t filled = pattern_bytes < bytes ? pattern_bytes : bytes;
    memcpy(to, pattern, filled);
    /* Doubles up to a block that stays in the cache; from there on it repeats that block. */
    while (filled < bytes) {
        const size_t source = filled < BLOCK ? filled : BLOCK;
        const size_t step = source < bytes - filled ? source : bytes - filled;
        memcpy(to + filled, to, step);
        filled += step;
    }
}

static void copy_or_fill(const command *of)
{
    if (!is_alive(&of->to, of->bytes) || (of->kind == COMMAND_COPY && !is_alive(&of->from, of->bytes))) return;
    if (of->kind == COMMAND_COPY) memmove(of->to.address, of->from.address, of->bytes);
    else fill(of->to.address, of->pattern, of->pattern_bytes, of->bytes);
    atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
}

/* Runs the commands of a recording; launches may still run after it. */
static void execute(worker *on, const recording *of)
{
    for (const command *each = recording_first(of); each != NULL && begin_command(); each = each->next) {
        if (each->kind == COMMAND_LAUNCH) {
            launch(on, each);
        } else if (each->kind != COMMAND_BARRIER) {
            finish(on);
            copy_or_fill(each);
        }
    }
}

typedef struct submission {
    struct submission *next;
    uint64_t ticket;
    fence *fence;
    uint32_t count;
    recording *recordings[];
} submission;

/* All but the worker is used inside the monitor only. */
struct executor {
    executor *next, *previous;
    pthread_cond_t has_work;
    pthread_t thread;
    worker worker;
    submission *first, *last; /* unfinished; the first one runs */
    uint64_t submitted, done; /* tickets */
    bool is_started, is_ending, frees_itself;
};

enum { STACK_BYTES = 64 << 20 };

static executor *executors;
static uint64_t last_ticket;

executor *executor_create(void)
{
    executor *made = calloc(1, sizeof *made);
    if (made == NULL) return NULL;
    monitor_condition(&made->has_work);
    monitor_enter();
    made->next = executors;
    if (executors != NULL) executors->previous = made;
    executors = made;
    monitor_leave();
    return made;
}

static void free_executor(executor *freed)
{
    monitor_enter();
    if (freed->next != NULL) freed->next->previous = freed->previous;
    if (freed->previous != NULL) freed->previous->next = freed->next;
    else executors = freed->next;
    monitor_leave();
    pthread_cond_destroy(&freed->has_work);
    free(freed);
}

static void free_submission(submission *freed)
{
    for (uint32_t i = 0; i < freed->count; i++) recording_drop(freed->recordings[i]);
    if (freed->fence != NULL) object_drop(&freed->fence->base);
    free(freed);
}

/* Inside the monitor, which it leaves meanwhile. */
static void run_first(executor *on)
{
    submission *running = on->first;
    monitor_leave();
    for (uint32_t i = 0; i < running->count; i++) execute(&on->worker, running->recordings[i]);
    finish(&on->worker);
    monitor_enter();
    on->first = running->next;
    if (on->first == NULL) on->last = NULL;
    on->done = running->ticket;
    for (uint32_t i = 0; i < running->count; i++) recording_end(running->recordings[i]);
    if (running->fence != NULL) running->fence->state = FENCE_SIGNALED;
    monitor_notify();
    monitor_leave();
    free_submission(running);
    sweep_allocations();
    monitor_enter();
}

static void *run(void *argument)
{
    executor *on = argument;
    if (engine_create_stream(&on->worker.stream) != ZE_RESULT_SUCCESS) lose_device();
    monitor_enter();
    for (;;) {
        if (on->first != NULL) run_first(on);
        else if (on->is_ending) break;
        else monitor_wait_on(&on->has_work);
    }
    const bool frees_itself = on->frees_itself;
    monitor_leave();
    if (on->worker.stream != NULL) engine_release_stream(on->worker.stream);
    if (frees_itself) free_executor(on);
    return NULL;
}

static bool start_thread(executor *started)
{
    pthread_attr_t attributes;
    sigset_t all, before;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    /* The program's signals are for the program's own threads. */
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    const bool is_started = pthread_create(&started->thread, &attributes, run, started) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return is_started;
}

/* Inside the monitor. */
static ze_result_t submit(executor *to, submission *submitted)
{
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    if (submitted->fence != NULL && submitted->fence->state != FENCE_RESET)
        return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
    if (!to->is_started) to->is_started = start_thread(to);
    if (!to->is_started) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    if (submitted->fence != NULL) submitted->fence->state = FENCE_PENDING;
    submitted->ticket = to->submitted = ++last_ticket;
    for (uint32_t i = 0; i < submitted->count; i++) recording_begin(submitted->recordings[i]);
    if (to->last != NULL) to->last->next = submitted;
    else to->first = submitted;
    to->last = submitted;
    pthread_cond_signal(&to->has_work);
    return ZE_RESULT_SUCCESS;
}

ze_result_t executor_submit(executor *to, recording **recordings, uint32_t count, fence *fence)
{
    submission *submitted = malloc(sizeof *submitted + count * sizeof *recordings);
    if (submitted == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *submitted = (submission){.fence = fence, .count = count};
    if (fence != NULL) object_keep(&fence->base);
    for (uint32_t i = 0; i < count; i++) recording_keep(submitted->recordings[i] = recordings[i]);
    monitor_enter();
    const ze_result_t result = submit(to, submitted);
    monitor_leave();
    if (result != ZE_RESULT_SUCCESS) free_submission(submitted);
    return result;
}

typedef struct {
    const executor *executor;
    uint64_t ticket;
} awaited;

static bool is_done(const void *what)
{
    const awaited *of = what;
    return of->executor->done >= of->ticket;
}

ze_result_t executor_wait(executor *on, uint64_t timeout)
{
    monitor_enter();
    const awaited until = {on, on->submitted};
    monitor_leave();
    return wait_until(is_done, &until, timeout);
}

bool executor_is_idle(executor *of)
{
    monitor_enter();
    const bool is_idle = of->first == NULL;
    monitor_leave();
    return is_idle;
}

void executor_end(executor *ended)
{
    monitor_enter();
    const bool is_started = ended->is_started;
    /* Not to be waited for: a kernel that may run for ever on a lost device, or the thread that asks. */
    const bool frees_itself =
        is_started && (ended->first != NULL || pthread_equal(ended->thread, pthread_self()) != 0);
    ended->is_ending = true;
    ended->frees_itself = frees_itself;
    const pthread_t thread = ended->thread;
    if (is_started) pthread_cond_signal(&ended->has_work);
    monitor_leave();
    if (frees_itself) {
        pthread_detach(thread);
        return;
    }
    if (is_started) pthread_join(thread, NULL);
    free_executor(ended);
}

uint64_t newest_ticket(void)
{
    monitor_enter();
    const uint64_t ticket = last_ticket;
    monitor_leave();
    return ticket;
}

uint64_t oldest_unfinished_ticket(void)
{
    uint64_t oldest = UINT64_MAX;
    monitor_enter();
    for (const executor *each = executors; each != NULL; each = each->next)
        if (each->first != NULL && each->first->ticket < oldest) oldest = each->first->ticket;
    monitor_leave();
    return oldest;
}
