/* Events that a launch signals, with the times when it began and ended. Nothing waits for them on the device. */
#ifndef EVENT_H
#define EVENT_H

#include "handles.h"

typedef struct {
    object base;
    atomic_bool is_signaled;
    uint64_t start, end; /* nanoseconds; of use when it is signaled */
} event;

/* Nanoseconds of a clock that never goes back. */
uint64_t event_clock(void);

#endif
