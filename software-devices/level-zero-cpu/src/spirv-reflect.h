/* The kernels of a module: names, arguments, group size, memory. Only for modules that are valid. */
#ifndef SPIRV_REFLECT_H
#define SPIRV_REFLECT_H

#include "engine.h"
#include "spirv-module.h"

/*
 * Describes every kernel, in the module's order. The array, its names and arguments are one block that the caller frees
 * by `free`. SPIRV_BAD with a line in `reason` for an argument that no value can be given for.
 */
spirv_status spirv_reflect(const spirv_module *module, engine_kernel_info **kernels, uint32_t *count, char *reason,
                           size_t reason_bytes);

/* The group size that a kernel is for, by the execution modes of its function; left alone where there are none. */
void spirv_required_group(const spirv_module *module, uint32_t function, uint32_t group[3]);

#endif
