/* Event pools and events. */
#ifndef EVENT_H
#define EVENT_H

#include "context.h"

typedef struct {
    object base;
    context *context;
    ze_event_pool_flags_t flags;
    uint32_t count;
    bool *taken; /* per index, inside the monitor */
} event_pool;

typedef struct {
    object base;
    event_pool *pool;
    uint32_t index;
    bool is_signaled; /* this and the times inside the monitor */
    uint64_t start, end;
} event;

/* True if the device writes down when a command that signals it began and ended. */
static inline bool event_is_timed(const event *event)
{
    return (event->pool->flags & ZE_EVENT_POOL_FLAG_KERNEL_TIMESTAMP) != 0;
}

/* Inside the monitor: signals it for a command that ran from `start` to now. */
void event_signal(event *event, uint64_t start);

/* Inside the monitor: what Level Zero reports of a signaled event. */
ze_kernel_timestamp_result_t event_times(const event *event);

#endif
