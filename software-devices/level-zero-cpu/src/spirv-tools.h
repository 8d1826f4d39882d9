/* The use of SPIRV-Tools in this driver. */
#ifndef SPIRV_TOOLS_H
#define SPIRV_TOOLS_H

#include "engine-log.h"
#include "spirv-module.h"

/* SPIRV_BAD with what is wrong, and where, in the log. Needs a big stack for deeply nested modules. */
spirv_status spirv_validate(const spirv_module *module, engine_log *log);

/* Assembles text whose ids are numbers. The words, without a header, are the caller's to free; NULL with a line in the
 * log. */
uint32_t *spirv_assemble(const char *text, size_t *count, engine_log *log);

/* One instruction: which of its words are ids that it uses, those of its result and of its type not included. */
typedef void (*spirv_instruction_see)(void *state, const uint32_t *at, const uint16_t *id_words, unsigned id_count);

/* Shows all instructions of a valid module in their order. SPIRV_BAD where the module is not valid. */
spirv_status spirv_walk(const spirv_module *module, spirv_instruction_see see, void *state);

/* Such as "OpTypeImage"; stays valid. */
const char *spirv_opcode_name(uint16_t opcode);

#endif
