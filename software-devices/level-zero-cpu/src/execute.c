#include "execute.h"
#include "allocations.h"
#include "copies.h"
#include "faults.h"
#include "monitor.h"
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
    char line[200];
    snprintf(line, sizeof line, "%s %s (0x%x)", what, name, (unsigned)result);
    fprintf(stderr, "level-zero-cpu: the device is lost: %s\n", line);
    lose_device(line);
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

static bool are_pointers_alive(const launch_command *of)
{
    for (uint32_t i = 0; i < of->kernel->info->argument_count; i++) {
        if (of->kernel->info->arguments[i].kind != ENGINE_POINTER) continue;
        operand memory = {.context = of->kernel->module->context};
        memcpy(&memory.address, of->launch.values[i], sizeof memory.address);
        if (memory.address != NULL && !is_alive(&memory, 1)) return false;
    }
    return true;
}

static bool are_buffers_alive(const launch_command *of)
{
    const context *in = of->kernel->module->context;
    const operand count = {(char *)(uintptr_t)of->indirect_count, of->indirect_count != NULL ? in : NULL};
    const operand groups = {(char *)(uintptr_t)of->indirect_groups, of->indirect_groups != NULL ? in : NULL};
    return is_alive(&count, sizeof *of->indirect_count) && is_alive(&groups, sizeof *of->indirect_groups);
}

static void launch(worker *on, launch_command *of)
{
    engine_launch now = of->launch;
    if (of->indirect_groups != NULL) {
        finish(on);
        if (!are_buffers_alive(of)) return;
    }
    if (of->indirect_count != NULL && of->index >= *of->indirect_count) return;
    if (of->indirect_groups != NULL) {
        now.groups[0] = of->indirect_groups->groupCountX;
        now.groups[1] = of->indirect_groups->groupCountY;
        now.groups[2] = of->indirect_groups->groupCountZ;
    }
    atomic_fetch_add_explicit(&launches, 1, memory_order_relaxed);
    if (!are_pointers_alive(of) || now.groups[0] == 0 || now.groups[1] == 0 || now.groups[2] == 0) return;
    on->is_busy = true;
    const ze_result_t result = engine_enqueue(on->stream, &now);
    if (result != ZE_RESULT_SUCCESS) fail("a launch failed:", of->kernel->info->name, result);
}

static void query_times(const command *of)
{
    if (!is_alive(&of->query.to, 1)) return;
    for (uint32_t i = 0; i < of->query.count; i++) {
        monitor_enter();
        const ze_kernel_timestamp_result_t times = event_times(of->query.events[i]);
        monitor_leave();
        const size_t offset = of->query.offsets != NULL ? of->query.offsets[i] : i * sizeof times;
        memcpy(of->query.to.address + offset, &times, sizeof times);
    }
}

static bool are_region_ends_alive(const box *of, const command *with)
{
    const size_t bytes = box_bytes(of, with->region.width, with->region.height, with->region.depth);
    return is_alive(&of->memory, bytes);
}

static void run_on_host(command *of)
{
    const uint64_t now = now_ns();
    switch (of->kind) {
    case COMMAND_COPY:
        if (!is_alive(&of->copy.to, of->copy.bytes) || !is_alive(&of->copy.from, of->copy.bytes)) return;
        memmove(of->copy.to.address, of->copy.from.address, of->copy.bytes);
        break;
    case COMMAND_COPY_REGION:
        if (!are_region_ends_alive(&of->region.to, of) || !are_region_ends_alive(&of->region.from, of)) return;
        copy_boxes(&of->region.to, &of->region.from, of->region.width, of->region.height, of->region.depth);
        break;
    case COMMAND_FILL:
        if (!is_alive(&of->fill.to, of->fill.bytes)) return;
        fill(of->fill.to.address, of->fill.pattern, of->fill.pattern_bytes, of->fill.bytes);
        break;
    case COMMAND_RESET_EVENT:
        monitor_enter();
        of->reset->is_signaled = false;
        monitor_leave();
        return;
    case COMMAND_WRITE_TIME:
        if (is_alive(&of->time, sizeof now)) memcpy(of->time.address, &now, sizeof now);
        return;
    case COMMAND_QUERY_TIMES:
        query_times(of);
        return;
    case COMMAND_LAUNCH:
    case COMMAND_NOTHING:
        return;
    }
    atomic_fetch_add_explicit(&copies, 1, memory_order_relaxed);
}

static bool is_signaled(const void *of)
{
    return ((const event *)of)->is_signaled;
}

static void wait_for_events(worker *on, const command *of)
{
    for (uint32_t i = 0; i < of->wait_count; i++) {
        if (wait_until(is_signaled, of->waits[i], 0) != ZE_RESULT_NOT_READY) continue;
        /* The thread that is to signal it may be waiting for what was enqueued here. */
        finish(on);
        wait_until(is_signaled, of->waits[i], UINT64_MAX);
    }
}

void execute(worker *on, const recording *of, bool is_last, event **signal, uint64_t *start)
{
    for (command *each = recording_first(of); each != NULL; each = each->next) {
        wait_for_events(on, each);
        const bool is_timed = each->signal != NULL && event_is_timed(each->signal);
        if (is_timed) finish(on);
        const uint64_t begun = is_timed ? now_ns() : 0;
        if (!begin_command()) return;
        if (each->kind == COMMAND_LAUNCH) {
            launch(on, &each->launch);
        } else if (each->kind != COMMAND_NOTHING) {
            finish(on);
            run_on_host(each);
        }
        if (each->signal == NULL) continue;
        finish(on);
        if (device_is_lost()) return;
        if (is_last && each->next == NULL) {
            *signal = each->signal;
            *start = begun;
            return;
        }
        monitor_enter();
        event_signal(each->signal, begun);
        monitor_leave();
    }
}
