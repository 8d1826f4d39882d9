/* Which memory a kernel uses: that of its own function and of all that it calls. */
#ifndef SPIRV_USAGE_H
#define SPIRV_USAGE_H

#include "spirv-module.h"

typedef struct {
    uint64_t local_bytes;   /* of Workgroup variables */
    uint64_t private_bytes; /* of Function variables */
} spirv_usage;

/* False without memory. */
bool spirv_usage_of(const spirv_module *module, uint32_t function, spirv_usage *usage);

#endif
