/* Valid SPIR-V that cannot run on PoCL: found here, as there it would end the process or fail without a word.
 */
#ifndef SPIRV_CHECK_H
#define SPIRV_CHECK_H

#include "engine-log.h"
#include "spirv-module.h"

/* SPIRV_BAD with a line in the log for the first such thing. Only for modules that are valid. */
spirv_status spirv_check(const spirv_module *module, engine_log *log);

/*
 * Says what may run wrong without an error: a function that returns on one path and has a barrier further on. PoCL
 * takes it that all items of a group reach a barrier or none does, as the OpenCL specification says.
 */
void spirv_warn(const spirv_module *module, engine_log *log);

#endif
