/* Command lists, regular and immediate, and how a command gets into one. */
#ifndef COMMAND_LIST_H
#define COMMAND_LIST_H

#include "command-queue.h"
#include <pthread.h>

typedef struct {
    object base;
    context *context;
    executor *executor; /* of an immediate list, else NULL */
    bool is_synchronous;
    pthread_mutex_t lock;
    bool is_closed;       /* this and the recording inside the lock */
    recording *recording; /* NULL in an immediate list */
} command_list;

/* The recording of a closed list of the context, with one more reference, or what stands against executing it. */
ze_result_t command_list_recording(command_list *list, const context *context, recording **recording);

/* A command on its way into a list, whose lock is held meanwhile. */
typedef struct {
    command_list *list;
    recording *recording;
    command *command;
} appending;

/*
 * Begins a command with its events. After success comes `append_end` or `append_fail`.
 * ZE_RESULT_ERROR_INVALID_NULL_HANDLE, ZE_RESULT_ERROR_INVALID_SIZE; ZE_RESULT_ERROR_INVALID_ARGUMENT: a closed list;
 * ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT: an event of another context; ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY.
 */
ze_result_t append_begin(appending *appending, ze_command_list_handle_t list, ze_event_handle_t signal,
                         uint32_t wait_count, ze_event_handle_t *waits);

/* One more command after the one begun, which gets that one's signal, or NULL where memory is short. */
command *append_another(appending *appending);

/* Gives up; returns `result`. */
ze_result_t append_fail(appending *appending, ze_result_t result);

/* Adds the command to the list, or executes it where the list is immediate. */
ze_result_t append_end(appending *appending);

/* Holds events of a context for as long as the recording lasts. Those held on failure are dropped. */
ze_result_t append_events(appending *appending, ze_event_handle_t *handles, uint32_t count, event ***events);

/* Notes what memory a command uses. ZE_RESULT_ERROR_INVALID_ARGUMENT where it reaches beyond its allocation. */
ze_result_t append_operand(const appending *appending, const void *address, size_t bytes, operand *operand);

#endif
