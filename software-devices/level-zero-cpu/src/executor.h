/*
 * The executor, which runs recordings in order: a thread per queue and per immediate list, started by the first work. Launches in a
 * row go to the engine without waiting; it waits for the engine where the host has to act.
 */
#ifndef EXECUTOR_H
#define EXECUTOR_H

#include "recording.h"

typedef struct executor executor;
struct fence;

/* NULL where memory is short. */
executor *executor_create(void);

/*
 * Takes recordings (which it keeps) and a fence or NULL, which is signaled when they are done.
 * ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT where the fence is signaled or pending already.
 */
ze_result_t executor_submit(executor *executor, recording **recordings, uint32_t count, struct fence *fence);

/* Waits until all that was submitted before is done; timeout and results as of `wait_until`. */
ze_result_t executor_wait(executor *executor, uint64_t timeout);

/* True if all that was submitted is done. */
bool executor_is_idle(executor *executor);

/* For its owner: it ends as soon as its work is done or, on a lost device, when the running kernel ends. */
void executor_end(executor *executor);

/* Submissions of all executors are numbered. The number of the last one, and of the first that is not done. */
uint64_t newest_ticket(void);
uint64_t oldest_unfinished_ticket(void);
uint64_t oldest_unfinished_ticket_inside(void); /* the same, inside the monitor */

#endif
