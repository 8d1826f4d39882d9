/* Modules and build logs. */
#ifndef MODULE_H
#define MODULE_H

#include "handles.h"
#include "engine.h"

typedef struct {
    object base;
    context *context;
    engine_program *program;
    uint8_t *spirv; /* as given */
    size_t spirv_bytes;
} module;

#endif
