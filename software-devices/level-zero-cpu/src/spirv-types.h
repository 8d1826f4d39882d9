/* Sizes of types as OpenCL lays them out in memory. */
#ifndef SPIRV_TYPES_H
#define SPIRV_TYPES_H

#include "spirv-module.h"

typedef struct {
    uint64_t bytes; /* a multiple of the alignment; 0 for what has no size, such as opaque types */
    uint64_t alignment;
} spirv_layout;

spirv_layout spirv_layout_of(const spirv_module *module, uint32_t type);

/* True if a decoration without operands stands on an id. */
bool spirv_decorated(const spirv_module *module, uint32_t id, SpvDecoration decoration);

#endif
