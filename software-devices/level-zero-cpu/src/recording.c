#include "recording.h"
#include <stdlib.h>

typedef struct piece {
    struct piece *next;
    size_t used, bytes;
    _Alignas(16) char memory[];
} piece;

struct recording {
    atomic_uint references, executions;
    piece *pieces;
    command *first, *last;
};

static const size_t FIRST_PIECE = 16 << 10, LATER_PIECE = 32 << 10;

static bool add_piece(recording *to, size_t bytes)
{
    piece *added = malloc(sizeof *added + bytes);
    if (added == NULL) return false;
    *added = (piece){.next = to->pieces, .bytes = bytes};
    to->pieces = added;
    return true;
}

recording *recording_create(void)
{
    recording *made = calloc(1, sizeof *made);
    if (made == NULL || !add_piece(made, FIRST_PIECE)) {
        free(made);
        return NULL;
    }
    atomic_init(&made->references, 1);
    atomic_init(&made->executions, 0);
    return made;
}

void recording_keep(recording *kept)
{
    atomic_fetch_add_explicit(&kept->references, 1, memory_order_relaxed);
}

void recording_drop(recording *dropped)
{
    if (atomic_fetch_sub_explicit(&dropped->references, 1, memory_order_acq_rel) != 1) return;
    for (const command *each = dropped->first; each != NULL; each = each->next)
        if (each->kind == COMMAND_LAUNCH) {
            object_drop(&each->kernel->base);
            if (each->signal != NULL) object_drop(&each->signal->base);
        }
    for (piece *next, *each = dropped->pieces; each != NULL; each = next) {
        next = each->next;
        free(each);
    }
    free(dropped);
}

void recording_begin(recording *of)
{
    atomic_fetch_add(&of->executions, 1);
}

void recording_end(recording *of)
{
    atomic_fetch_sub(&of->executions, 1);
}

bool recording_is_executing(const recording *of)
{
    return atomic_load(&of->executions) > 0;
}

void *recording_take(recording *from, size_t bytes)
{
    if (bytes > SIZE_MAX / 2) return NULL;
    const size_t taken = (bytes + 15) & ~(size_t)15;
    if (from->pieces->bytes - from->pieces->used < taken && !add_piece(from, taken > LATER_PIECE ? taken : LATER_PIECE))
        return NULL;
    char *memory = from->pieces->memory + from->pieces->used;
    from->pieces->used += taken;
    return memset(memory, 0, taken);
}

ze_result_t recording_add(recording *to, const command *given)
{
    command *added = recording_take(to, sizeof *added);
    if (added == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    *added = *given;
    if (added->kind == COMMAND_LAUNCH) {
        object_keep(&added->kernel->base);
        if (added->signal != NULL) object_keep(&added->signal->base);
    }
    if (to->last == NULL) to->first = added;
    else to->last->next = added;
    to->last = added;
    return ZE_RESULT_SUCCESS;
}

const command *recording_first(const recording *of)
{
    return of->first;
}
