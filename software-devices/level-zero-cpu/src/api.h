/*
 * The Level Zero headers with API functions that stay inside this library: a driver that exports `zeInit` takes the
 * place of the loader's own and can hang the process. Include it before anything that includes ze_api.h.
 */
#ifndef API_H
#define API_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#define ZE_APIEXPORT
#include <level_zero/ze_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The number of items of a list to write, by Level Zero's rule for counts; updates `*count`. */
static inline uint32_t items_to_write(uint32_t *count, uint32_t available, const void *items)
{
    const uint32_t asked = *count;
    if (asked == 0 || asked > available) *count = available;
    return items == NULL ? 0 : asked < available ? asked : available;
}

#endif
