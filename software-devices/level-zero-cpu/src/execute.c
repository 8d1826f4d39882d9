/* Runs commands, on an executor's thread. */
#include "allocations.h"
#include "executor.h"
#include "faults.h"
#include <stdio.h>

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

void finish(worker *on)
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
        of->signal->start = event_clock();
    }
    if (groups[0] > 0 && groups[1] > 0 && groups[2] > 0) {
        on->is_busy = true;
        const ze_result_t result = engine_enqueue(on->stream, &of->launch);
        if (result != ZE_RESULT_SUCCESS) fail("a launch failed:", of->kernel->info->name, result);
    }
    if (of->signal == NULL) return;
    finish(on);
    of->signal->end = event_clock();
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

void execute(worker *on, const recording *of)
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
