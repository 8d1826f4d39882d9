/* The commands of a list in order. A list that is reset gets a new one, so one that is being executed never changes. */
#ifndef RECORDING_H
#define RECORDING_H

#include "command.h"

typedef struct recording recording;

/* An empty one whose first piece of memory has `bytes`; NULL where memory is short. */
recording *recording_create(size_t bytes);
void recording_keep(recording *recording);

/* The last reference frees the commands and drops what they hold. */
void recording_drop(recording *recording);

/* Counts executions that are submitted and not done. */
void recording_begin(recording *recording);
void recording_end(recording *recording);
bool recording_is_executing(const recording *recording);

/* Memory that lasts as long as the recording, zeroed, at a multiple of 16; NULL where memory is short. */
void *recording_take(recording *recording, size_t bytes);

/* Adds a command, taken from the same recording, after the others. */
void recording_add(recording *recording, command *command);

/* The first command, NULL for none. */
command *recording_first(const recording *recording);

#endif
