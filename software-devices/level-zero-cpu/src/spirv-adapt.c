#include "spirv.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_signed(const uint32_t *type) { return spirv_opcode(type) == SpvOpTypeInt && type[3] == 1; }

/* Literals narrower than a word are sign-extended where the type is signed, else zero-extended. */
static uint32_t narrow_literal(const uint32_t *type, const void *value)
{
    uint16_t half = 0;
    uint8_t byte = 0;
    if (type[2] == 16) {
        memcpy(&half, value, sizeof half);
        return is_signed(type) ? (uint32_t)(int32_t)(int16_t)half : half;
    }
    memcpy(&byte, value, sizeof byte);
    return is_signed(type) ? (uint32_t)(int32_t)(int8_t)byte : byte;
}

static void set_constant(const spirv_module *module, uint32_t *constant, const void *value)
{
    uint16_t opcode = spirv_opcode(constant);
    if (opcode == SpvOpSpecConstantTrue || opcode == SpvOpSpecConstantFalse) {
        uint8_t truth;
        memcpy(&truth, value, sizeof truth);
        constant[0] = (uint32_t)spirv_length(constant) << 16 | (truth ? SpvOpSpecConstantTrue : SpvOpSpecConstantFalse);
        return;
    }
    const uint32_t *type = spirv_definition(module, constant[1]);
    if (opcode != SpvOpSpecConstant || !type) return;
    if (type[2] <= 16) constant[3] = narrow_literal(type, value);
    else memcpy(constant + 3, value, type[2] / 8);
}

void spirv_specialize(spirv_module *module, const ze_module_constants_t *constants)
{
    if (!constants || !constants->pConstantIds || !constants->pConstantValues) return;
    SPIRV_EACH(at, module) {
        if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationSpecId) continue;
        uint32_t *constant = spirv_definition(module, at[1]);
        for (uint32_t index = 0; constant && index < constants->numConstants; index++)
            if (constants->pConstantIds[index] == at[3] && constants->pConstantValues[index])
                set_constant(module, constant, constants->pConstantValues[index]);
    }
}

typedef struct {
    const spirv_module *module;
    spirv_words words;
    uint32_t bound;
    uint32_t entry_points; /* seen so far */
} adapted;

uint32_t spirv_kernel_number(const spirv_module *module, uint32_t number)
{
    uint32_t functions[SPIRV_MAX_KERNELS];
    uint32_t count = 0;
    SPIRV_EACH(at, module)
        if (spirv_opcode(at) == SpvOpEntryPoint && count <= number) functions[count++] = at[2];
    uint32_t first = 0;
    while (first < number && functions[first] != functions[number]) first++;
    return first;
}

void spirv_kernel_name(uint32_t number, char name[SPIRV_KERNEL_NAME_BYTES])
{
    snprintf(name, SPIRV_KERNEL_NAME_BYTES, "kernel_%u", number);
}

/* OpConstantNull of a number or a truth value: as the plain constant that it is. */
static bool adapt_null(adapted *copy, const uint32_t *at)
{
    const uint32_t *type = spirv_definition(copy->module, at[1]);
    const uint32_t operands[4] = {at[1], at[2], 0, 0};
    switch (spirv_opcode(type)) {
    case SpvOpTypeBool: spirv_emit(&copy->words, SpvOpConstantFalse, 2, operands); return true;
    case SpvOpTypeInt:
    case SpvOpTypeFloat: spirv_emit(&copy->words, SpvOpConstant, type[2] > 32 ? 4 : 3, operands); return true;
    default: return false;
    }
}

static uint32_t insert(adapted *copy, uint32_t type, uint32_t part, uint32_t whole, uint32_t place, uint32_t result)
{
    spirv_emit(&copy->words, SpvOpCompositeInsert, 5, (uint32_t[]){type, result, part, whole, place});
    return result;
}

static const uint32_t *type_of(const adapted *copy, uint32_t id)
{
    const uint32_t *definition = spirv_definition(copy->module, id);
    return definition ? spirv_definition(copy->module, definition[1]) : NULL;
}

static bool is_vector(const uint32_t *type) { return type && spirv_opcode(type) == SpvOpTypeVector; }

/* OpCompositeConstruct: as insertions into nothing, a vector given as a part of a vector taken apart first. */
static bool adapt_construct(adapted *copy, const uint32_t *at)
{
    const bool flat = is_vector(spirv_definition(copy->module, at[1]));
    uint32_t place = 0, whole = copy->bound++;
    if (spirv_length(at) == 3) return false;
    spirv_emit(&copy->words, SpvOpUndef, 2, (uint32_t[]){at[1], whole});
    for (unsigned word = 3; word < spirv_length(at); word++) {
        const uint32_t *part_type = type_of(copy, at[word]);
        const bool last = word + 1u == spirv_length(at);
        if (!flat || !is_vector(part_type)) {
            whole = insert(copy, at[1], at[word], whole, place++, last ? at[2] : copy->bound++);
            continue;
        }
        for (uint32_t lane = 0; lane < part_type[3]; lane++) {
            uint32_t part = copy->bound++;
            spirv_emit(&copy->words, SpvOpCompositeExtract, 4, (uint32_t[]){part_type[2], part, at[word], lane});
            whole = insert(copy, at[1], part, whole, place++, last && lane + 1 == part_type[3] ? at[2] : copy->bound++);
        }
    }
    return true;
}

static bool is_of_halves(const adapted *copy, const uint32_t *vector)
{
    const uint32_t *component = spirv_definition(copy->module, vector[2]);
    return spirv_opcode(component) == SpvOpTypeFloat && component[2] == 16;
}

/* OpFConvert of a vector of halves, or to one: component by component. PoCL has no function for the whole. */
static bool adapt_conversion(adapted *copy, const uint32_t *at)
{
    const uint32_t *to = spirv_definition(copy->module, at[1]), *from = type_of(copy, at[3]);
    if (!is_vector(to) || !is_vector(from) || !(is_of_halves(copy, to) || is_of_halves(copy, from))) return false;
    uint32_t whole = copy->bound++;
    spirv_emit(&copy->words, SpvOpUndef, 2, (uint32_t[]){at[1], whole});
    for (uint32_t lane = 0; lane < to[3]; lane++) {
        uint32_t part = copy->bound++, converted = copy->bound++;
        spirv_emit(&copy->words, SpvOpCompositeExtract, 4, (uint32_t[]){from[2], part, at[3], lane});
        spirv_emit(&copy->words, SpvOpFConvert, 3, (uint32_t[]){to[2], converted, part});
        whole = insert(copy, at[1], converted, whole, lane, lane + 1 == to[3] ? at[2] : copy->bound++);
    }
    return true;
}

/* PoCL makes names of files and of C functions from a kernel's, so that "a/b" or "printf" would end the process. */
static bool adapt_entry_point(adapted *copy, const uint32_t *at)
{
    char name[SPIRV_KERNEL_NAME_BYTES] = "";
    const unsigned name_words = (unsigned)strlen(spirv_text(at + 3)) / 4 + 1;
    uint32_t operands[3 + SPIRV_KERNEL_NAME_BYTES / 4] = {at[1], at[2]};
    uint32_t number = copy->entry_points++;
    /* The translator knows one kernel per function. */
    if (spirv_kernel_number(copy->module, number) != number) return true;
    spirv_kernel_name(number, name);
    memcpy(operands + 2, name, sizeof name);
    uint32_t first = (uint32_t)(spirv_length(at) - name_words + sizeof name / 4) << 16 | SpvOpEntryPoint;
    spirv_append(&copy->words, &first, 1);
    spirv_append(&copy->words, operands, 2 + sizeof name / 4);
    spirv_append(&copy->words, at + 3 + name_words, spirv_length(at) - 3 - name_words);
    return true;
}

/* PoCL replaces ids of work-items where all is inlined: what is left out ends the process at launch. */
static bool adapt_function(adapted *copy, const uint32_t *at)
{
    const uint32_t control = at[3] & ~(uint32_t)SpvFunctionControlDontInlineMask;
    spirv_emit(&copy->words, SpvOpFunction, 4, (uint32_t[]){at[1], at[2], control, at[4]});
    return true;
}

static bool adapt(adapted *copy, const uint32_t *at)
{
    switch (spirv_opcode(at)) {
    /* Names and lines are for debuggers. A function that is named like one of PoCL's own would take its place. */
    case SpvOpName:
    case SpvOpMemberName:
    case SpvOpLine:
    case SpvOpNoLine: return true;
    case SpvOpDecorate: return at[2] == SpvDecorationLinkageAttributes;
    case SpvOpEntryPoint: return adapt_entry_point(copy, at);
    case SpvOpFunction: return adapt_function(copy, at);
    case SpvOpConstantNull: return adapt_null(copy, at);
    case SpvOpCompositeConstruct: return adapt_construct(copy, at);
    case SpvOpFConvert: return adapt_conversion(copy, at);
    default: return false;
    }
}

spirv_status spirv_adapt(spirv_module *module)
{
    adapted copy = {.module = module, .bound = module->bound};
    spirv_append(&copy.words, module->words, 5);
    SPIRV_EACH(at, module)
        if (!adapt(&copy, at)) spirv_append(&copy.words, at, spirv_length(at));
    if (copy.words.failed) {
        free(copy.words.words);
        return SPIRV_NO_MEMORY;
    }
    free(module->words);
    module->words = copy.words.words;
    module->count = copy.words.count;
    module->bound = module->words[3] = copy.bound;
    return spirv_index(module) ? SPIRV_OK : SPIRV_NO_MEMORY;
}
