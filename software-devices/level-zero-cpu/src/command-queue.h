/* Command queues. */
#ifndef COMMAND_QUEUE_H
#define COMMAND_QUEUE_H

#include "context.h"
#include "device.h"
#include "executor.h"

typedef struct {
    object base;
    context *context;
    executor *executor;
    bool is_synchronous;
} command_queue;

/* The fault in the description of a queue or of an immediate list. */
ze_result_t check_queue_desc(const ze_command_queue_desc_t *desc);

#endif
