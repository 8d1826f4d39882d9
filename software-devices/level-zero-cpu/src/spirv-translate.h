/* SPIR-V to LLVM bitcode, by the llvm-spirv program in its own process, as it crashes on much. */
#ifndef SPIRV_TRANSLATE_H
#define SPIRV_TRANSLATE_H

#include "engine-log.h"
#include "spirv-module.h"

/* Finds an llvm-spirv whose bitcode this LLVM reads. NULL where none is installed; else a path that stays valid. */
const char *spirv_find_translator(unsigned llvm_major);

/* SPIRV_BAD, with the translator's words in the log, when it fails, crashes, or takes longer than a minute. */
spirv_status spirv_translate(const spirv_module *module, const char *translator, unsigned char **bitcode, size_t *bytes,
                             engine_log *log);

#endif
