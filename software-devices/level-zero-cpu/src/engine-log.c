#include "engine-log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Compilers repeat themselves; what follows after this much is not read. */
enum { MAX_LOG_BYTES = 256 << 10 };

void engine_say_text(engine_log *log, const char *text, size_t length)
{
    while (length > 0 && (text[length - 1] == '\n' || text[length - 1] == 0)) length--;
    if (length == 0 || log->length + length > MAX_LOG_BYTES) return;
    char *longer = realloc(log->text, log->length + length + 2);
    if (!longer) return;
    log->text = longer;
    memcpy(longer + log->length, text, length);
    log->length += length;
    longer[log->length++] = '\n';
    longer[log->length] = 0;
}

void engine_say(engine_log *log, const char *format, ...)
{
    char line[1000];
    va_list values;
    va_start(values, format);
    int length = vsnprintf(line, sizeof line, format, values);
    va_end(values);
    if (length < 0) return;
    engine_say_text(log, line, (size_t)length < sizeof line ? (size_t)length : sizeof line - 1);
}

char *engine_take_log(engine_log *log)
{
    char *text = log->text ? log->text : calloc(1, 1);
    log->text = NULL;
    log->length = 0;
    return text;
}
