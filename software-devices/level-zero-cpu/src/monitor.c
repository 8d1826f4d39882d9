#include "monitor.h"
#include "faults.h"
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

bool monitor_wait(uint64_t deadline)
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

uint64_t deadline_after(uint64_t timeout)
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
