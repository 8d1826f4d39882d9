/* Runs commands, on an executor's thread. */
#ifndef EXECUTE_H
#define EXECUTE_H

#include "recording.h"

/* A stream of the engine, and whether something was enqueued on it since the last wait. */
typedef struct {
    engine_stream *stream;
    bool is_busy;
} worker;

/*
 * Runs the commands of a recording. When the last one signals an event and `is_last`, that is left to the caller, who
 * first has to write down that the work is done: `*signal` and the time it began.
 */
void execute(worker *worker, const recording *recording, bool is_last, event **signal, uint64_t *start);

/* Waits for the engine. */
void finish(worker *worker);

/* The number of executed launches and copies (including fills and regions). */
void count_executed(uint64_t *launches, uint64_t *copies);

#endif
