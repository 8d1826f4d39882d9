/* What happens to a module on its way to PoCL. All take modules that are valid, and SPIRV_BAD comes with a line in the log. */
#ifndef SPIRV_PASSES_H
#define SPIRV_PASSES_H

#include "engine-log.h"
#include "engine.h"
#include "spirv-module.h"

/*
 * Refuses valid SPIR-V that cannot run on PoCL: found here, as there it would end the process or fail without a word. The
 * line is about the first such thing.
 */
spirv_status spirv_check(const spirv_module *module, engine_log *log);

/*
 * Says what may run wrong without an error: a function that returns on one path and has a barrier further on. PoCL
 * takes it that all items of a group reach a barrier or none does, as the OpenCL specification says.
 */
void spirv_warn(const spirv_module *module, engine_log *log);

/*
 * Specialisation: sets each constant whose SpecId the module has; other ids are ignored. A value is read in the size of its constant:
 * one byte for bool, 1, 2, 4 or 8 bytes for numbers.
 */
void spirv_specialize(spirv_module *module, const ze_module_constants_t *constants);

/*
 * Workgroup variables of the functions that sub-groups are emulated by. PoCL makes memory of every work-group's own of the
 * variables that a kernel's own function mentions; what only a called function mentions is one memory for all groups,
 * also of those that run at the same time. So the kernels are made to mention them all, and functions get them as parameters.
 */
spirv_status spirv_pass_locals(spirv_module *module, engine_log *log);

/*
 * Describes every kernel, in the module's order: name, arguments, group size, memory. The array, its names and arguments are one block that the caller frees
 * by `free`. SPIRV_BAD with a line in `reason` for an argument that no value can be given for.
 */
spirv_status spirv_reflect(const spirv_module *module, engine_kernel_info **kernels, uint32_t *count, char *reason,
                           size_t reason_bytes);

/* The group size that a kernel is for, by the execution modes of its function; left alone where there are none. */
void spirv_required_group(const spirv_module *module, uint32_t function, uint32_t group[3]);

enum { SPIRV_KERNEL_NAME_BYTES = 16, SPIRV_MAX_KERNELS = 4096 };

/* The number of the first entry point that has the same function as this one: the two are one kernel to PoCL. */
uint32_t spirv_kernel_number(const spirv_module *module, uint32_t number);

/* The name that an adapted module has for the kernel of a number. */
void spirv_kernel_name(uint32_t number, char name[SPIRV_KERNEL_NAME_BYTES]);

/* Rewrites code that the translator to LLVM crashes on; kernels get names by their numbers. SPIRV_NO_MEMORY or SPIRV_OK. */
spirv_status spirv_adapt(spirv_module *module);

/* Finds an llvm-spirv whose bitcode this LLVM reads. NULL where none is installed; else a path that stays valid. */
const char *spirv_find_translator(unsigned llvm_major);

/*
 * SPIR-V to LLVM bitcode, by the llvm-spirv program in its own process, as it crashes on much. SPIRV_BAD, with its words in
 * the log, when it fails, crashes, or takes longer than a minute.
 */
spirv_status spirv_translate(const spirv_module *module, const char *translator, unsigned char **bitcode, size_t *bytes,
                             engine_log *log);

#endif
