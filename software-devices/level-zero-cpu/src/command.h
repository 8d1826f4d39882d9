/* The content of a command list: commands with all they need, in the recording's own memory. */
#ifndef COMMAND_H
#define COMMAND_H

#include "event.h"
#include "kernel.h"

typedef enum {
    COMMAND_NOTHING, /* a barrier: in-order execution needs no more; it may wait and signal */
    COMMAND_LAUNCH,
    COMMAND_COPY,
    COMMAND_COPY_REGION,
    COMMAND_FILL,
    COMMAND_RESET_EVENT,
    COMMAND_WRITE_TIME,
    COMMAND_QUERY_TIMES
} command_kind;

/* A range of memory that a command uses. */
typedef struct {
    char *address;
    const context *context; /* of the allocation it was in when it was recorded, NULL for memory of the program's own */
} operand;

/* Rows of a box: where its first byte is, and how far apart rows and slices are. */
typedef struct {
    operand memory;
    size_t offset;
    size_t row_pitch, slice_pitch;
} box;

typedef struct {
    kernel *kernel;
    engine_launch launch;
    const ze_group_count_t *indirect_groups; /* read when it runs; NULL: as in `launch` */
    const uint32_t *indirect_count;          /* read when it runs: skipped unless `index` is below; NULL: always runs */
    uint32_t index;
} launch_command;

typedef struct command {
    struct command *next;
    command_kind kind;
    event *signal; /* or NULL */
    uint32_t wait_count;
    event **waits;
    union {
        launch_command launch;
        struct {
            operand to, from;
            size_t bytes;
        } copy;
        struct {
            box to, from;
            size_t width, height, depth;
        } region;
        struct {
            operand to;
            char *pattern;
            size_t pattern_bytes, bytes;
        } fill;
        event *reset;
        operand time;
        struct {
            operand to;
            uint32_t count;
            event **events;
            const size_t *offsets;
        } query;
    };
} command;

/* Drops the references that a command holds. */
void command_drop(command *command);

#endif
