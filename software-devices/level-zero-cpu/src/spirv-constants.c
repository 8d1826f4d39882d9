#include "spirv-passes.h"

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
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at)) {
        if (spirv_opcode(at) != SpvOpDecorate || at[2] != SpvDecorationSpecId) continue;
        uint32_t *constant = spirv_definition(module, at[1]);
        for (uint32_t index = 0; constant && index < constants->numConstants; index++)
            if (constants->pConstantIds[index] == at[3] && constants->pConstantValues[index])
                set_constant(module, constant, constants->pConstantValues[index]);
    }
}
