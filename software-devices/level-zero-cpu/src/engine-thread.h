/* The engine's own thread: LLVM needs more stack than callers have. */
#ifndef ENGINE_THREAD_H
#define ENGINE_THREAD_H

#include <stdbool.h>

/* Runs the job on the compiler thread, one at a time, and waits for it. False where that thread cannot be started. */
bool engine_run_on_big_stack(void (*job)(void *), void *argument);

#endif
