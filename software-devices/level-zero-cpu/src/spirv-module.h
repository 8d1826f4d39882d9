/* A SPIR-V module as words, and the look-ups that every pass needs. */
#ifndef SPIRV_MODULE_H
#define SPIRV_MODULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <spirv/unified1/spirv.h>

typedef struct {
    uint32_t *words;       /* owned */
    size_t count;          /* of words, the header of 5 included */
    uint32_t bound;        /* ids are below */
    uint32_t *definitions; /* by id: index of the word where its instruction starts, or 0; owned */
} spirv_module;

typedef enum { SPIRV_OK, SPIRV_BAD, SPIRV_NO_MEMORY } spirv_status;

/*
 * Copies the module in the byte order of this machine and finds where each id is defined.
 * Checks the header and that the instructions fill the words exactly; SPIRV_BAD with a line in `reason` if not.
 */
spirv_status spirv_read(spirv_module *module, const void *bytes, size_t byte_count, char *reason, size_t reason_bytes);
void spirv_free(spirv_module *module);

/* Finds definitions anew after words were changed. False without memory. */
bool spirv_index(spirv_module *module);

static inline uint16_t spirv_opcode(const uint32_t *instruction) { return (uint16_t)(instruction[0] & 0xffff); }
static inline uint16_t spirv_length(const uint32_t *instruction) { return (uint16_t)(instruction[0] >> 16); }

/* The first instruction, and one past the last. To walk: `at += spirv_length(at)`. */
static inline uint32_t *spirv_first(const spirv_module *module) { return module->words + 5; }
static inline uint32_t *spirv_end(const spirv_module *module) { return module->words + module->count; }

/* The instruction that defines an id, NULL where none does. */
static inline uint32_t *spirv_definition(const spirv_module *module, uint32_t id)
{
    return id < module->bound && module->definitions[id] ? module->words + module->definitions[id] : NULL;
}

/* A literal string inside an instruction; valid as long as the module's words are. */
static inline const char *spirv_text(const uint32_t *words) { return (const char *)words; }

/* Which words of an instruction hold its result type and its result, 0 where it has none. */
void spirv_result_words(uint16_t opcode, unsigned *type_word, unsigned *result_word);

/* Value of an integer constant that is known before the run (OpConstant, OpSpecConstant); false for anything else. */
bool spirv_integer(const spirv_module *module, uint32_t id, uint64_t *value);

/* The size of a type as OpenCL lays it out in memory. */
typedef struct {
    uint64_t bytes; /* a multiple of the alignment; 0 for what has no size, such as opaque types */
    uint64_t alignment;
} spirv_layout;

spirv_layout spirv_layout_of(const spirv_module *module, uint32_t type);

/* True if a decoration without operands stands on an id. */
bool spirv_decorated(const spirv_module *module, uint32_t id, SpvDecoration decoration);

#endif
