/* The owner of everything but the devices. */
#ifndef CONTEXT_H
#define CONTEXT_H

#include "handles.h"

/* `base.children` counts what was made in it and is not destroyed: it cannot be destroyed before. */
typedef struct {
    object base;
} context;

/* For the owner of a new object: counts it as a child of `parent`, which it keeps alive. */
void adopt(object *parent);

/* For an object that is destroyed: its parent may be destroyed now. */
void disown(object *parent);

/* ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE while an object has children, unless the device is lost. */
ze_result_t may_be_destroyed(object *parent);

#endif
