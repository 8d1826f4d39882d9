#include "faults.h"
#include "monitor.h"
#include <stdatomic.h>

static atomic_bool lost;
static atomic_uint_fast64_t commands, last_command, delay;

bool device_is_lost(void)
{
    return atomic_load_explicit(&lost, memory_order_acquire);
}

void lose_device(void)
{
    monitor_enter();
    atomic_store_explicit(&lost, true, memory_order_release);
    monitor_notify();
    monitor_leave();
}

void lose_after(uint64_t count)
{
    atomic_store(&last_command, count);
}

void delay_next(uint64_t nanoseconds)
{
    atomic_store(&delay, nanoseconds);
}

static void sleep_unless_lost(uint64_t nanoseconds)
{
    const uint64_t deadline = deadline_after(nanoseconds);
    monitor_enter();
    while (!device_is_lost() && monitor_wait(deadline)) {
    }
    monitor_leave();
}

bool begin_command(void)
{
    const uint64_t last = atomic_load_explicit(&last_command, memory_order_relaxed);
    if (last != 0 && atomic_fetch_add(&commands, 1) + 1 >= last) lose_device();
    if (atomic_load_explicit(&delay, memory_order_relaxed) != 0) {
        const uint64_t nanoseconds = atomic_exchange(&delay, 0);
        if (nanoseconds != 0) sleep_unless_lost(nanoseconds);
    }
    return !device_is_lost();
}
