/*
 * The commands of a list in order, with all they need, in the recording's own memory. A list that is reset gets a new one, so
 * one that is being executed never changes.
 */
#ifndef RECORDING_H
#define RECORDING_H

#include "event.h"
#include "kernel.h"

typedef enum {
    COMMAND_BARRIER, /* in-order execution needs no more */
    COMMAND_LAUNCH,
    COMMAND_COPY,
    COMMAND_FILL
} command_kind;

/* A range of memory that a command uses. */
typedef struct {
    char *address;
    const context *context; /* of the allocation it was in when it was recorded, NULL for memory of the program's own */
} operand;

typedef struct command {
    struct command *next;
    command_kind kind;
    union {
        struct {
            kernel *kernel;
            engine_launch launch;
            event *signal; /* NULL for none */
        };
        struct {
            operand to, from; /* a fill has no `from` */
            size_t bytes;
            char *pattern;
            size_t pattern_bytes;
        };
    };
} command;

typedef struct recording recording;

/* An empty one; NULL where memory is short. */
recording *recording_create(void);
void recording_keep(recording *recording);

/* The last reference frees the commands and drops what they hold. */
void recording_drop(recording *recording);

/* Counts executions that are submitted and not done. */
void recording_begin(recording *recording);
void recording_end(recording *recording);
bool recording_is_executing(const recording *recording);

/* Memory that lasts as long as the recording, zeroed, at a multiple of 16; NULL where memory is short. */
void *recording_take(recording *recording, size_t bytes);

/* Adds a copy of a command after the others, which keeps its kernel. ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY. */
ze_result_t recording_add(recording *recording, const command *command);

/* The first command, NULL for none. */
const command *recording_first(const recording *recording);

#endif
