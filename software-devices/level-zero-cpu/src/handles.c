#include "driver.h"
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

void *object_make(size_t bytes, object_kind kind, object *parent, void (*release)(object *))
{
    object *made = calloc(1, bytes);
    if (made == NULL) return NULL;
    *made = (object){.kind = kind, .parent = parent, .release = release};
    atomic_init(&made->references, 1);
    if (parent != NULL) object_keep(parent);
    return made;
}

ze_result_t object_open(void *made, void *handle)
{
    object *opened = made;
    if (opened == NULL) return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    pthread_mutex_lock(&lock);
    const uint32_t index = take_slot();
    if (index != NONE) {
        slots[index].object = opened;
        opened->handle = (uintptr_t)slots[index].generation << GENERATION_SHIFT | (uintptr_t)index << SLOT_SHIFT;
        counts[opened->kind]++;
        memcpy(handle, &opened->handle, sizeof opened->handle);
    }
    pthread_mutex_unlock(&lock);
    if (index == NONE) {
        object_drop(opened);
        return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
    }
    if (opened->parent != NULL) atomic_fetch_add(&opened->parent->children, 1);
    return ZE_RESULT_SUCCESS;
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
    if (atomic_fetch_sub_explicit(&held->references, 1, memory_order_acq_rel) != 1) return;
    if (held->release != NULL) held->release(held);
    if (held->parent != NULL) object_drop(held->parent);
    free(held);
}

ze_result_t object_close(object *closed)
{
    pthread_mutex_lock(&lock);
    slot *found = find(closed->handle);
    const bool alive = found != NULL && found->object == closed;
    if (alive) {
        counts[closed->kind]--;
        give_slot_back((uint32_t)(found - slots));
    }
    pthread_mutex_unlock(&lock);
    if (!alive) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
    if (closed->parent != NULL) disown(closed->parent);
    object_drop(closed);
    return ZE_RESULT_SUCCESS;
}

void adopt(object *parent)
{
    object_keep(parent);
    atomic_fetch_add(&parent->children, 1);
}

void disown(object *parent)
{
    atomic_fetch_sub(&parent->children, 1);
}

ze_result_t may_be_destroyed(object *parent)
{
    const bool in_use = atomic_load(&parent->children) > 0 && !device_is_lost();
    return in_use ? ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE : ZE_RESULT_SUCCESS;
}

uint64_t object_count(object_kind kind)
{
    pthread_mutex_lock(&lock);
    const uint64_t count = counts[kind];
    pthread_mutex_unlock(&lock);
    return count;
}
