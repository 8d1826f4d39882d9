/*
 * Workgroup variables that functions use, not only kernels. PoCL makes memory of every work-group's own of the
 * variables that a kernel's own function mentions; what only a called function mentions is one memory for all groups,
 * also of those that run at the same time. So the kernels mention them all, and functions get them as parameters.
 */
#ifndef SPIRV_LOCALS_H
#define SPIRV_LOCALS_H

#include "engine-log.h"
#include "spirv-module.h"

/*
 * Rewrites the module, which has to be valid, where a function other than a kernel uses Workgroup variables. SPIRV_BAD
 * with a line in the log for what cannot be rewritten.
 */
spirv_status spirv_pass_locals(spirv_module *module, engine_log *log);

#endif
