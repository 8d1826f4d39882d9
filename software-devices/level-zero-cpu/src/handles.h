/*
 * Handles and the objects behind them. A handle is a number, never a pointer, so that one that was freed, made up or of
 * another kind is noticed. Objects are counted: work on the device keeps what it uses, whatever the program destroys.
 */
#ifndef HANDLES_H
#define HANDLES_H

#include "api.h"
#include <stdatomic.h>
#include <string.h>

typedef enum {
    KIND_DRIVER,
    KIND_DEVICE,
    KIND_CONTEXT,
    KIND_QUEUE,
    KIND_LIST,
    KIND_FENCE,
    KIND_EVENT_POOL,
    KIND_EVENT,
    KIND_MODULE,
    KIND_BUILD_LOG,
    KIND_KERNEL,
    KIND_COUNT
} object_kind;

/* The first member of every object. */
typedef struct object {
    object_kind kind;
    atomic_uint references;
    atomic_uint children; /* objects made from this one that have not been destroyed */
    uintptr_t handle;
    void (*free)(struct object *);
} object;

/* Gives an object a handle and its first reference, which is the program's. False where memory is short. */
bool object_open(object *object, object_kind kind, void (*free)(struct object *));

/* The live object behind a handle with one more reference, or NULL where it is not of this kind or not alive. */
void *object_acquire(const void *handle, object_kind kind);

/* One more reference to an object that the caller already holds. */
void object_keep(object *object);

/* One reference less; the last one frees. */
void object_drop(object *object);

/* Makes the handle invalid and drops the program's reference. False where another thread was first. */
bool object_close(object *object);

/* The number of live handles of a kind. */
uint64_t object_count(object_kind kind);

static inline void object_drop_variable(void *variable)
{
    object *held;
    memcpy(&held, variable, sizeof held);
    if (held != NULL) object_drop(held);
}

/* Declares `name`, the object behind a handle, held until the block ends; returns where there is none. */
#define HOLD(type, name, handle, kind)                                                                                 \
    __attribute__((cleanup(object_drop_variable))) type *name = object_acquire(handle, kind);                          \
    if (name == NULL) return ZE_RESULT_ERROR_INVALID_NULL_HANDLE

/* Writes an object's handle to a variable of a handle type. */
#define HANDLE_OF(type, held) ((type)(held)->base.handle)

#endif
