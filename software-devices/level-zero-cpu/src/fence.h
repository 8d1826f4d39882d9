/* Fences: host waits for lists that a queue executes. */
#ifndef FENCE_H
#define FENCE_H

#include "command-queue.h"

typedef enum { FENCE_RESET, FENCE_PENDING, FENCE_SIGNALED } fence_state;

typedef struct fence {
    object base;
    command_queue *queue;
    fence_state state; /* inside the monitor */
} fence;

#endif
