#include "handles.h"
#include <pthread.h>
#include <stdlib.h>

/* A handle is generation << 28 | slot << 4: below 2^48, aligned like a pointer, never NULL. */
enum { SLOT_SHIFT = 4, SLOT_BITS = 24, GENERATION_SHIFT = SLOT_SHIFT + SLOT_BITS, GENERATION_BITS = 20 };

typedef struct {
    object *object;
    uint32_t generation;
    uint32_t next_free;
} slot;

static const uint32_t NONE = UINT32_MAX;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static slot *slots;
static uint32_t used, capacity;
/* First in, first out: a slot rests as long as possible before an old handle could mean a new object. */
static uint32_t first_free = UINT32_MAX, last_free = UINT32_MAX;
static uint64_t counts[KIND_COUNT];

static uint32_t take_slot(void)
{
    if (first_free != NONE) {
        const uint32_t index = first_free;
        first_free = slots[index].next_free;
        if (first_free == NONE) last_free = NONE;
        return index;
    }
    if (used == capacity) {
        const uint32_t larger = capacity == 0 ? 256 : capacity * 2;
        slot *moved = larger > 1u << SLOT_BITS ? NULL : realloc(slots, larger * sizeof *slots);
        if (moved == NULL) return NONE;
        slots = moved;
        capacity = larger;
    }
    slots[used] = (slot){.generation = 1};
    return used++;
}

static void give_slot_back(uint32_t index)
{
    slot *freed = &slots[index];
    freed->object = NULL;
    freed->generation = (freed->generation + 1) & ((1u << GENERATION_BITS) - 1);
    if (freed->generation == 0) freed->generation = 1;
    freed->next_free = NONE;
    if (last_free == NONE) first_free = index;
    else slots[last_free].next_free = index;
    last_free = index;
}

/* The slot of a handle that is alive, else NULL. */
static slot *find(uintptr_t handle)
{
    const uintptr_t index = handle >> SLOT_SHIFT & ((1u << SLOT_BITS) - 1);
    const bool aligned = (handle & ((1u << SLOT_SHIFT) - 1)) == 0;
    if (!aligned || index >= used || slots[index].object == NULL ||
        handle >> GENERATION_SHIFT != slots[index].generation)
        return NULL;
    return &slots[index];
}

bool object_open(object *opened, object_kind kind, void (*free)(object *))
{
    opened->kind = kind;
    opened->free = free;
    atomic_init(&opened->references, 1);
    atomic_init(&opened->children, 0);
    pthread_mutex_lock(&lock);
    const uint32_t index = take_slot();
    if (index != NONE) {
        slots[index].object = opened;
        opened->handle = (uintptr_t)slots[index].generation << GENERATION_SHIFT | (uintptr_t)index << SLOT_SHIFT;
        counts[kind]++;
    }
    pthread_mutex_unlock(&lock);
    return index != NONE;
}

void *object_acquire(const void *handle, object_kind kind)
{
    pthread_mutex_lock(&lock);
    const slot *found = find((uintptr_t)handle);
    object *held = found != NULL && found->object->kind == kind ? found->object : NULL;
    if (held != NULL) object_keep(held);
    pthread_mutex_unlock(&lock);
    return held;
}

void object_keep(object *held)
{
    atomic_fetch_add_explicit(&held->references, 1, memory_order_relaxed);
}

void object_drop(object *held)
{
    if (atomic_fetch_sub_explicit(&held->references, 1, memory_order_acq_rel) == 1) held->free(held);
}

bool object_close(object *closed)
{
    pthread_mutex_lock(&lock);
    slot *found = find(closed->handle);
    const bool alive = found != NULL && found->object == closed;
    if (alive) {
        counts[closed->kind]--;
        give_slot_back((uint32_t)(found - slots));
    }
    pthread_mutex_unlock(&lock);
    if (alive) object_drop(closed);
    return alive;
}

uint64_t object_count(object_kind kind)
{
    pthread_mutex_lock(&lock);
    const uint64_t count = counts[kind];
    pthread_mutex_unlock(&lock);
    return count;
}
