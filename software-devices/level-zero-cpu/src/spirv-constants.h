/* Specialisation: other values for the constants that a module leaves open. */
#ifndef SPIRV_CONSTANTS_H
#define SPIRV_CONSTANTS_H

#include "spirv-module.h"

#include <level_zero/ze_api.h>

/*
 * Sets each constant whose SpecId the module has; other ids are ignored. A value is read in the size of its constant:
 * one byte for bool, 1, 2, 4 or 8 bytes for numbers.
 */
void spirv_specialize(spirv_module *module, const ze_module_constants_t *constants);

#endif
