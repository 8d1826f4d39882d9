#define _GNU_SOURCE
#include "spirv.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void spirv_append(spirv_words *list, const uint32_t *words, size_t count)
{
    if (list->count + count > list->room) {
        size_t room = (list->count + count) * 2 + 64;
        uint32_t *more = realloc(list->words, room * sizeof *more);
        if (!more) {
            list->failed = true;
            return;
        }
        list->words = more;
        list->room = room;
    }
    if (count > 0) memcpy(list->words + list->count, words, count * sizeof *words);
    list->count += count;
}

void spirv_emit(spirv_words *list, uint16_t opcode, unsigned operand_count, const uint32_t *operands)
{
    uint32_t first = (operand_count + 1) << 16 | opcode;
    spirv_append(list, &first, 1);
    spirv_append(list, operands, operand_count);
}

uint32_t spirv_new_id(spirv_edit *edit) { return edit->bound++; }

/* The result is word 1 for a type and word 2, after the type, for a constant. */
static uint32_t declare(spirv_edit *edit, uint16_t opcode, unsigned result_word, unsigned count, uint32_t *operands)
{
    const spirv_words *list = &edit->declarations;
    for (size_t at = 0; at < list->count; at += spirv_length(list->words + at)) {
        const uint32_t *known = list->words + at;
        if (spirv_opcode(known) != opcode || spirv_length(known) != count + 1) continue;
        operands[result_word - 1] = known[result_word];
        if (memcmp(known + 1, operands, count * sizeof *operands) == 0) return known[result_word];
    }
    operands[result_word - 1] = spirv_new_id(edit);
    spirv_emit(&edit->declarations, opcode, count, operands);
    return operands[result_word - 1];
}

uint32_t spirv_declare_type(spirv_edit *edit, uint16_t opcode, unsigned operand_count, const uint32_t *operands)
{
    uint32_t *words = calloc(operand_count + 1, sizeof *words);
    if (!words) {
        edit->declarations.failed = true;
        return 0;
    }
    if (operand_count > 0) memcpy(words + 1, operands, operand_count * sizeof *operands);
    uint32_t type = declare(edit, opcode, 1, operand_count + 1, words);
    free(words);
    return type;
}

uint32_t spirv_declare_constant(spirv_edit *edit, uint16_t opcode, uint32_t type, unsigned word_count,
                                const uint32_t *words)
{
    uint32_t operands[4] = {type, 0};
    if (word_count > 0) memcpy(operands + 2, words, word_count * sizeof *words);
    return declare(edit, opcode, 2, word_count + 2, operands);
}

enum { MAX_NAMES = 64, MAX_NAME = 30 };

typedef struct {
    spirv_edit *edit;
    unsigned symbol_count;
    const spirv_symbol *symbols;
    char names[MAX_NAMES][MAX_NAME];
    uint32_t ids[MAX_NAMES];
    unsigned name_count;
} scope;

static const spirv_symbol *find_symbol(const scope *names, const char *name)
{
    for (unsigned at = 0; at < names->symbol_count; at++)
        if (strcmp(names->symbols[at].name, name) == 0) return &names->symbols[at];
    return NULL;
}

static uint32_t id_of(scope *names, const char *name)
{
    const spirv_symbol *symbol = find_symbol(names, name);
    if (symbol) return symbol->id;
    for (unsigned at = 0; at < names->name_count; at++)
        if (strcmp(names->names[at], name) == 0) return names->ids[at];
    if (names->name_count == MAX_NAMES) return 0;
    snprintf(names->names[names->name_count], MAX_NAME, "%s", name);
    return names->ids[names->name_count++] = spirv_new_id(names->edit);
}

static void expand(scope *names, FILE *out, const char *text);

static void put_symbol(scope *names, FILE *out, char kind, const char *name)
{
    const spirv_symbol *symbol = find_symbol(names, name);
    if (kind == '%') fprintf(out, "%%%u", id_of(names, name));
    else expand(names, out, symbol ? symbol->text : "?");
}

static void expand(scope *names, FILE *out, const char *text)
{
    while (*text) {
        if (*text != '%' && *text != '$') {
            fputc(*text++, out);
            continue;
        }
        char kind = *text++, name[MAX_NAME] = "";
        for (unsigned length = 0; (isalnum((unsigned char)*text) || *text == '_') && length < MAX_NAME - 1; length++)
            name[length] = *text++;
        put_symbol(names, out, kind, name);
    }
}

void spirv_write_function(spirv_edit *edit, const char *text, unsigned symbol_count, const spirv_symbol *symbols)
{
    scope names = {.edit = edit, .symbol_count = symbol_count, .symbols = symbols};
    char *expanded = NULL;
    size_t bytes = 0, count = 0;
    FILE *out = open_memstream(&expanded, &bytes);
    if (!out) {
        edit->functions.failed = true;
        return;
    }
    expand(&names, out, text);
    fclose(out);
    uint32_t *words = expanded ? spirv_assemble(expanded, &count, edit->log) : NULL;
    free(expanded);
    if (words) spirv_append(&edit->functions, words, count);
    else edit->failed = true;
    free(words);
}

spirv_status spirv_finish_edit(spirv_edit *edit, spirv_module *module)
{
    spirv_words whole = {0};
    spirv_status status = SPIRV_OK;
    if (edit->failed) status = SPIRV_BAD;
    if (edit->preamble.failed || edit->declarations.failed || edit->bodies.failed || edit->functions.failed)
        status = SPIRV_NO_MEMORY;
    if (status == SPIRV_OK) {
        spirv_append(&whole, module->words, 5);
        spirv_append(&whole, edit->preamble.words, edit->preamble.count);
        spirv_append(&whole, edit->declarations.words, edit->declarations.count);
        spirv_append(&whole, edit->bodies.words, edit->bodies.count);
        spirv_append(&whole, edit->functions.words, edit->functions.count);
        if (whole.failed) status = SPIRV_NO_MEMORY;
    }
    if (status == SPIRV_OK) {
        free(module->words);
        module->words = whole.words;
        module->count = whole.count;
        module->bound = module->words[3] = edit->bound;
        if (!spirv_index(module)) status = SPIRV_NO_MEMORY;
    } else {
        free(whole.words);
    }
    free(edit->preamble.words);
    free(edit->declarations.words);
    free(edit->bodies.words);
    free(edit->functions.words);
    return status;
}
