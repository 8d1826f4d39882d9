/* Text that grows: what a build says. */
#ifndef ENGINE_LOG_H
#define ENGINE_LOG_H

#include <stddef.h>

/* Starts as {0}. Without memory lines are lost, never more. */
typedef struct {
    char *text;
    size_t length;
} engine_log;

/* Appends one line; the line break is added. */
void engine_say(engine_log *log, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends text as it is, up to `length` bytes, with a line break where it has none at its end. */
void engine_say_text(engine_log *log, const char *text, size_t length);

/* Gives the text away, for the receiver to free; NULL only without memory. */
char *engine_take_log(engine_log *log);

#endif
