/*
 * The executor, which runs recordings in order: a thread per queue, started by the first work. Launches in a row of one
 * recording go to the engine without waiting; it waits for the engine where the host has to act, and at the end.
 */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include "recording.h"

typedef enum { FENCE_RESET, FENCE_PENDING, FENCE_SIGNALED } fence_state;

/* A child of its queue: the host waits with it for lists that the queue executes. */
typedef struct {
    object base;
    fence_state state; /* inside the monitor */
} fence;

typedef struct executor executor;

/* NULL where memory is short. */
executor *executor_create(void);

/*
 * Takes recordings (which it keeps) and a fence or NULL, which is signaled when they are done.
 * ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT where the fence is signaled or pending already.
 */
ze_result_t executor_submit(executor *executor, recording **recordings, uint32_t count, fence *fence);

/* Waits until all that was submitted before is done; timeout and results as of `wait_until`. */
ze_result_t executor_wait(executor *executor, uint64_t timeout);

/* True if all that was submitted is done. */
bool executor_is_idle(executor *executor);

/* For its owner: it ends as soon as its work is done or, on a lost device, when the running kernel ends. */
void executor_end(executor *executor);

/* Submissions of all executors are numbered. The number of the last one, and of the first that is not done. */
uint64_t newest_ticket(void);
uint64_t oldest_unfinished_ticket(void);

/* A stream of the engine, and whether something was enqueued on it since the last wait. */
typedef struct {
    engine_stream *stream;
    bool is_busy;
} worker;

/* On an executor's thread: runs the commands of a recording; launches may still run after it. */
void execute(worker *worker, const recording *recording);

/* Waits for the engine. */
void finish(worker *worker);

/* The number of executed launches and copies (including fills). */
void count_executed(uint64_t *launches, uint64_t *copies);

/* The recording of a closed list of the context, with one more reference, or what stands against executing it. */
ze_result_t command_list_recording(ze_command_list_handle_t list, const context *context, recording **recording);

#endif
