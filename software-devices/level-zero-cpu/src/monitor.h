/*
 * The one lock around what changes while work runs (fences, progress of queues) and the one place to wait for a
 * change of it. Held for a few instructions at a time, never while work runs.
 */
#ifndef MONITOR_H
#define MONITOR_H

#include "api.h"
#include <pthread.h>

/* Before anything else, once. */
void monitor_start(void);

void monitor_enter(void);
void monitor_leave(void);

/* Inside: wakes all who wait for a change. */
void monitor_notify(void);

/* Inside: waits for a change until a time of `now_ns`, for ever with UINT64_MAX. False where the time has come. */
bool monitor_wait(uint64_t deadline);

/* Inside: as `monitor_wait`, on the caller's condition. */
void monitor_wait_on(pthread_cond_t *condition);

/* A condition to wait on inside the monitor. */
void monitor_condition(pthread_cond_t *condition);

/* The device's and the host's clock, in nanoseconds. */
uint64_t now_ns(void);

/* The time a timeout of a Level Zero call ends. */
uint64_t deadline_after(uint64_t timeout);

/*
 * Waits until `is_ready(what)`, which is asked inside the monitor. ZE_RESULT_NOT_READY when the timeout (nanoseconds)
 * is over, ZE_RESULT_ERROR_DEVICE_LOST as soon as the device is lost.
 */
ze_result_t wait_until(bool (*is_ready)(const void *what), const void *what, uint64_t timeout);

#endif
