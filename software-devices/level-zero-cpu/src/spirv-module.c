/* The header's own table of which opcodes have results; here its code goes for all files. */
#define SPV_ENABLE_UTILITY_CODE
#include "spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern inline void SpvHasResultAndType(SpvOp opcode, bool *has_result, bool *has_type);

/* Universal limits of the specification: ids, and a size no honest module reaches. */
enum { MAX_BOUND = 0x3fffff, MAX_BYTES = 64 << 20, HEADER_WORDS = 5 };

void spirv_result_words(uint16_t opcode, unsigned *type_word, unsigned *result_word)
{
    bool has_result = false, has_type = false;
    SpvHasResultAndType((SpvOp)opcode, &has_result, &has_type);
    *type_word = has_type ? 1 : 0;
    *result_word = has_result ? (has_type ? 2 : 1) : 0;
}

bool spirv_index(spirv_module *module)
{
    uint32_t *definitions = calloc(module->bound, sizeof *definitions);
    if (!definitions) return false;
    free(module->definitions);
    module->definitions = definitions;
    SPIRV_EACH(at, module) {
        unsigned type_word, result_word;
        spirv_result_words(spirv_opcode(at), &type_word, &result_word);
        if (result_word == 0 || result_word >= spirv_length(at)) continue;
        uint32_t id = at[result_word];
        if (id < module->bound && !definitions[id]) definitions[id] = (uint32_t)(at - module->words);
    }
    return true;
}

static spirv_status check_header(spirv_module *module, char *reason, size_t reason_bytes)
{
    uint32_t version = module->words[1];
    uint32_t major = version >> 16 & 0xff, minor = version >> 8 & 0xff;
    if (major != 1 || minor > 4 || (version & 0xff0000ff) != 0) {
        snprintf(reason, reason_bytes, "SPIR-V version %u.%u is not supported: 1.0 to 1.4 are", major, minor);
        return SPIRV_BAD;
    }
    module->bound = module->words[3];
    if (module->bound == 0 || module->bound > MAX_BOUND) {
        snprintf(reason, reason_bytes, "the header's bound of ids is %u: it has to be from 1 to %d", module->bound,
                 MAX_BOUND);
        return SPIRV_BAD;
    }
    return SPIRV_OK;
}

static spirv_status check_lengths(const spirv_module *module, char *reason, size_t reason_bytes)
{
    size_t at = HEADER_WORDS;
    while (at < module->count) {
        uint16_t length = spirv_length(module->words + at);
        if (length == 0 || length > module->count - at) {
            snprintf(reason, reason_bytes,
                     "the instruction at word %zu (opcode %u) has %u words, but %zu are left: cut off or damaged", at,
                     spirv_opcode(module->words + at), length, module->count - at);
            return SPIRV_BAD;
        }
        at += length;
    }
    return SPIRV_OK;
}

spirv_status spirv_read(spirv_module *module, const void *bytes, size_t byte_count, char *reason, size_t reason_bytes)
{
    memset(module, 0, sizeof *module);
    if (!bytes || byte_count < HEADER_WORDS * 4 || byte_count % 4 != 0 || byte_count > MAX_BYTES) {
        snprintf(reason, reason_bytes, "not SPIR-V: %zu bytes, which has to be a multiple of 4 from 20 to %d",
                 byte_count, MAX_BYTES);
        return SPIRV_BAD;
    }
    module->count = byte_count / 4;
    module->words = malloc(byte_count);
    if (!module->words) return SPIRV_NO_MEMORY;
    memcpy(module->words, bytes, byte_count);
    if (module->words[0] == __builtin_bswap32(SpvMagicNumber))
        for (size_t at = 0; at < module->count; at++) module->words[at] = __builtin_bswap32(module->words[at]);

    spirv_status status = SPIRV_OK;
    if (module->words[0] != SpvMagicNumber) {
        snprintf(reason, reason_bytes, "not SPIR-V: the first word is 0x%08x, not 0x%08x", module->words[0],
                 SpvMagicNumber);
        status = SPIRV_BAD;
    }
    if (status == SPIRV_OK) status = check_header(module, reason, reason_bytes);
    if (status == SPIRV_OK) status = check_lengths(module, reason, reason_bytes);
    if (status == SPIRV_OK && !spirv_index(module)) status = SPIRV_NO_MEMORY;
    if (status != SPIRV_OK) spirv_free(module);
    return status;
}

void spirv_free(spirv_module *module)
{
    free(module->words);
    free(module->definitions);
    memset(module, 0, sizeof *module);
}

bool spirv_integer(const spirv_module *module, uint32_t id, uint64_t *value)
{
    const uint32_t *constant = spirv_definition(module, id);
    if (!constant || (spirv_opcode(constant) != SpvOpConstant && spirv_opcode(constant) != SpvOpSpecConstant))
        return false;
    const uint32_t *type = spirv_definition(module, constant[1]);
    if (!type || spirv_opcode(type) != SpvOpTypeInt) return false;
    *value = constant[3];
    if (type[2] > 32 && spirv_length(constant) > 4) *value |= (uint64_t)constant[4] << 32;
    return true;
}

/* No structure or array of an honest module comes near, and the arithmetic below stays far from overflow. */
static const uint64_t MAX_TYPE_BYTES = UINT64_C(1) << 40;
enum { MAX_TYPE_DEPTH = 200 };

/* True if a decoration without operands stands on an id. */
static bool is_decorated(const spirv_module *module, uint32_t id, SpvDecoration decoration)
{
    SPIRV_EACH(at, module) {
        if (spirv_opcode(at) == SpvOpFunction) break;
        if (spirv_opcode(at) == SpvOpDecorate && at[1] == id && at[2] == (uint32_t)decoration) return true;
    }
    return false;
}

static spirv_layout layout_at_depth(const spirv_module *module, uint32_t type, unsigned depth);

static spirv_layout layout_of_struct(const spirv_module *module, const uint32_t *type, unsigned depth)
{
    spirv_layout whole = {0, 1};
    bool packed = is_decorated(module, type[1], SpvDecorationCPacked);
    for (unsigned member = 2; member < spirv_length(type); member++) {
        spirv_layout part = layout_at_depth(module, type[member], depth + 1);
        if (part.bytes == 0) return (spirv_layout){0, 1};
        if (packed) part.alignment = 1;
        whole.bytes = (whole.bytes + part.alignment - 1) / part.alignment * part.alignment + part.bytes;
        if (part.alignment > whole.alignment) whole.alignment = part.alignment;
        if (whole.bytes > MAX_TYPE_BYTES) return (spirv_layout){0, 1};
    }
    whole.bytes = (whole.bytes + whole.alignment - 1) / whole.alignment * whole.alignment;
    return whole;
}

static spirv_layout layout_at_depth(const spirv_module *module, uint32_t id, unsigned depth)
{
    const spirv_layout unknown = {0, 1};
    const uint32_t *type = spirv_definition(module, id);
    if (!type || depth > MAX_TYPE_DEPTH) return unknown;
    switch (spirv_opcode(type)) {
    case SpvOpTypeBool: return (spirv_layout){1, 1};
    case SpvOpTypeInt:
    case SpvOpTypeFloat: return (spirv_layout){type[2] / 8, type[2] / 8};
    case SpvOpTypePointer: return (spirv_layout){8, 8};
    case SpvOpTypeVector: {
        spirv_layout part = layout_at_depth(module, type[2], depth + 1);
        /* A vector of 3 takes the room of 4. */
        uint64_t bytes = part.bytes * (type[3] == 3 ? 4 : type[3]);
        return (spirv_layout){bytes, bytes ? bytes : 1};
    }
    case SpvOpTypeArray: {
        spirv_layout part = layout_at_depth(module, type[2], depth + 1);
        uint64_t count = 0;
        if (!spirv_integer(module, type[3], &count) || count > MAX_TYPE_BYTES) return unknown;
        if (part.bytes != 0 && count > MAX_TYPE_BYTES / part.bytes) return unknown;
        return (spirv_layout){part.bytes * count, part.alignment};
    }
    case SpvOpTypeStruct: return layout_of_struct(module, type, depth);
    default: return unknown;
    }
}

spirv_layout spirv_layout_of(const spirv_module *module, uint32_t type) { return layout_at_depth(module, type, 0); }
