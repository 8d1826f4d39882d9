/* Which capabilities and built-in variables work, with their names for people. */
#ifndef SPIRV_NAMES_H
#define SPIRV_NAMES_H

#include <stdbool.h>
#include <stdint.h>

typedef struct {
    uint32_t number;
    const char *name;
    bool works;
    const char *why; /* it does not; NULL where it works */
} spirv_capability;

/* NULL for a capability that this driver has never heard of. */
const spirv_capability *spirv_capability_of(uint32_t number);

typedef struct {
    uint32_t number;
    const char *name;
    unsigned components; /* of its type */
    unsigned bits;       /* of a component */
} spirv_builtin;

/* NULL for a built-in variable that kernels do not have. */
const spirv_builtin *spirv_builtin_of(uint32_t number);

#endif
