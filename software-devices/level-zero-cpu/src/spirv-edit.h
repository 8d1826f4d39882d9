/* Changing a module: a copy grows in parts, in which things can be declared and functions written as assembly text. */
#ifndef SPIRV_EDIT_H
#define SPIRV_EDIT_H

#include "engine-log.h"
#include "spirv-module.h"

typedef struct {
    uint32_t *words;
    size_t count, room;
    bool failed; /* no memory: words are missing from here on */
} spirv_words;

typedef struct {
    const spirv_module *module;
    uint32_t bound;           /* of the copy */
    spirv_words preamble;     /* up to the decorations */
    spirv_words declarations; /* types, constants, variables of the module, then the added ones */
    spirv_words bodies;       /* the module's functions */
    spirv_words functions;    /* added ones */
    engine_log *log;
    bool failed; /* something else than memory went wrong; the log says what */
} spirv_edit;

void spirv_append(spirv_words *list, const uint32_t *words, size_t count);
void spirv_emit(spirv_words *list, uint16_t opcode, unsigned operand_count, const uint32_t *operands);

uint32_t spirv_new_id(spirv_edit *edit);

/* The id of a type or constant with these operands (those after its result), declared where the copy has none yet. */
uint32_t spirv_declare_type(spirv_edit *edit, uint16_t opcode, unsigned operand_count, const uint32_t *operands);
uint32_t spirv_declare_constant(spirv_edit *edit, uint16_t opcode, uint32_t type, unsigned word_count,
                                const uint32_t *words);

/* The replacement of a name in a text: %name for an id, $name for text in which names are replaced as well. Other %names
 * get new ids. */
typedef struct {
    const char *name;
    uint32_t id;
    const char *text;
} spirv_symbol;

/* Appends functions written as assembly text. */
void spirv_write_function(spirv_edit *edit, const char *text, unsigned symbol_count, const spirv_symbol *symbols);

/* Puts the copy in the module's place, or frees it where the edit failed. */
spirv_status spirv_finish_edit(spirv_edit *edit, spirv_module *module);

#endif
