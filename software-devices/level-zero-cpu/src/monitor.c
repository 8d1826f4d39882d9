#include "driver.h"

#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed;

void monitor_start(void)
{
    monitor_condition(&changed);
}

void monitor_condition(pthread_cond_t *condition)
{
    pthread_condattr_t attributes;
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(condition, &attributes);
    pthread_condattr_destroy(&attributes);
}

void monitor_enter(void)
{
    pthread_mutex_lock(&lock);
}

void monitor_leave(void)
{
    pthread_mutex_unlock(&lock);
}

void monitor_notify(void)
{
    pthread_cond_broadcast(&changed);
}

void monitor_wait_on(pthread_cond_t *condition)
{
    pthread_cond_wait(condition, &lock);
}

/* Inside: waits for a change until a time of `now_ns`, for ever with UINT64_MAX. False where the time has come. */
static bool monitor_wait(uint64_t deadline)
{
    if (deadline == UINT64_MAX) {
        pthread_cond_wait(&changed, &lock);
        return true;
    }
    const struct timespec until = {.tv_sec = (time_t)(deadline / 1000000000u),
                                   .tv_nsec = (long)(deadline % 1000000000u)};
    return pthread_cond_timedwait(&changed, &lock, &until) == 0;
}

uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The time a timeout of a Level Zero call ends. */
static uint64_t deadline_after(uint64_t timeout)
{
    const uint64_t now = now_ns();
    /* Beyond the signed range of a timespec is as good as for ever. */
    return timeout > (uint64_t)INT64_MAX - now ? UINT64_MAX : now + timeout;
}

ze_result_t wait_until(bool (*is_ready)(const void *), const void *what, uint64_t timeout)
{
    const uint64_t deadline = timeout == 0 ? 0 : deadline_after(timeout);
    ze_result_t result;
    monitor_enter();
    for (bool in_time = timeout != 0;;) {
        result = device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST
                 : is_ready(what) ? ZE_RESULT_SUCCESS
                                  : ZE_RESULT_NOT_READY;
        if (result != ZE_RESULT_NOT_READY || !in_time) break;
        in_time = monitor_wait(deadline);
    }
    monitor_leave();
    return result;
}

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
