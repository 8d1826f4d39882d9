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
    KIND_MODULE,
    KIND_BUILD_LOG,
    KIND_KERNEL,
    KIND_EVENT_POOL,
    KIND_EVENT,
    KIND_COUNT
} object_kind;

/* The first member of every object. */
typedef struct object {
    object_kind kind;
    atomic_uint references;
    atomic_uint children;  /* objects made from this one that have not been destroyed */
    struct object *parent; /* which it keeps; NULL for none */
    uintptr_t handle;
    void (*release)(struct object *); /* what it holds beside its own memory; NULL for nothing */
} object;

/* A new object of `bytes`, zeroed but for this part, without a handle yet; NULL where memory is short. */
void *object_make(size_t bytes, object_kind kind, object *parent, void (*release)(object *));

/*
 * Gives what `object_make` made its handle, which goes to a variable of a handle type: its first reference is now the
 * program's, and it is a child of its parent.
 * ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, also for NULL: then the object is gone.
 */
ze_result_t object_open(void *made, void *handle);

/* The live object behind a handle with one more reference, or NULL where it is not of this kind or not alive. */
void *object_acquire(const void *handle, object_kind kind);

/* One more reference to an object that the caller already holds. */
void object_keep(object *object);

/* One reference less; the last one frees. */
void object_drop(object *object);

/* Makes the handle invalid and drops its reference. ZE_RESULT_ERROR_INVALID_NULL_HANDLE where another thread was first. */
ze_result_t object_close(object *object);

/* Counts one child more of a parent, which the child keeps from now on; and one less. */
void adopt(object *parent);
void disown(object *parent);

/* ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE while an object has children, unless the device is lost. */
ze_result_t may_be_destroyed(object *parent);

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

/* Returns the result of a call that fails. */
#define TRY(call)                                                                                                      \
    do {                                                                                                               \
        const ze_result_t tried = (call);                                                                              \
        if (tried != ZE_RESULT_SUCCESS) return tried;                                                                  \
    } while (0)

/* The owner of everything but the devices: it cannot be destroyed before what was made in it. */
typedef struct {
    object base;
} context;

/* Writes an object's handle to a variable of a handle type. */
#define HANDLE_OF(type, held) ((type)(held)->base.handle)

#endif
