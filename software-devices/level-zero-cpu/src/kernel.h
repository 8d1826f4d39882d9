/* Kernels: what will be launched, with the values set so far. */
#ifndef KERNEL_H
#define KERNEL_H

#include "module.h"

typedef struct {
    bool is_set;
    size_t offset;        /* in the values */
} kernel_argument;

typedef struct {
    object base;
    module *module;
    engine_kernel *engine;
    const engine_kernel_info *info;
    kernel_argument *arguments;
    char *values;
    size_t value_bytes;
    uint32_t group_size[3];
} kernel;

#endif
