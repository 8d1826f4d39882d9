/* Valid code that the translator to LLVM crashes on, rewritten. */
#ifndef SPIRV_ADAPT_H
#define SPIRV_ADAPT_H

#include "spirv-module.h"

enum { SPIRV_KERNEL_NAME_BYTES = 16, SPIRV_MAX_KERNELS = 4096 };

/* The number of the first entry point that has the same function as this one: the two are one kernel to PoCL. */
uint32_t spirv_kernel_number(const spirv_module *module, uint32_t number);

/* The name that an adapted module has for the kernel of a number. */
void spirv_kernel_name(uint32_t number, char name[SPIRV_KERNEL_NAME_BYTES]);

/* SPIRV_NO_MEMORY or SPIRV_OK. Kernels get names by their numbers. */
spirv_status spirv_adapt(spirv_module *module);

#endif
