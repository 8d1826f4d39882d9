#include "spirv.h"

#include <spirv-tools/libspirv.h>
#include <stdlib.h>
#include <string.h>

static spv_target_env environment_of(const spirv_module *module)
{
    const spv_target_env environments[] = {SPV_ENV_UNIVERSAL_1_0, SPV_ENV_UNIVERSAL_1_1, SPV_ENV_UNIVERSAL_1_2,
                                           SPV_ENV_UNIVERSAL_1_3, SPV_ENV_UNIVERSAL_1_4};
    uint32_t minor = module->words[1] >> 8 & 0xff;
    return environments[minor < 4 ? minor : 4];
}

spirv_status spirv_validate(const spirv_module *module, engine_log *log)
{
    spv_context context = spvContextCreate(environment_of(module));
    if (!context) return SPIRV_NO_MEMORY;
    spv_const_binary_t binary = {module->words, module->count};
    spv_diagnostic diagnostic = NULL;
    spv_result_t result = spvValidate(context, &binary, &diagnostic);
    if (result != SPV_SUCCESS && diagnostic)
        engine_say(log, "not valid SPIR-V: instruction %zu: %s", diagnostic->position.index, diagnostic->error);
    else if (result != SPV_SUCCESS) engine_say(log, "not valid SPIR-V (SPIRV-Tools result %d)", result);
    spvDiagnosticDestroy(diagnostic);
    spvContextDestroy(context);
    if (result == SPV_ERROR_OUT_OF_MEMORY) return SPIRV_NO_MEMORY;
    return result == SPV_SUCCESS ? SPIRV_OK : SPIRV_BAD;
}

typedef struct {
    spirv_instruction_see see;
    void *state;
    uint16_t places[UINT16_MAX];
} parsing;

static spv_result_t see_parsed(void *user_data, const spv_parsed_instruction_t *instruction)
{
    parsing *state = user_data;
    unsigned count = 0;
    for (unsigned at = 0; at < instruction->num_operands; at++) {
        const spv_parsed_operand_t *operand = &instruction->operands[at];
        if (operand->type == SPV_OPERAND_TYPE_ID) state->places[count++] = operand->offset;
    }
    state->see(state->state, instruction->words, state->places, count);
    return SPV_SUCCESS;
}

spirv_status spirv_walk(const spirv_module *module, spirv_instruction_see see, void *state)
{
    spv_context context = spvContextCreate(environment_of(module));
    parsing *parser = malloc(sizeof *parser);
    spirv_status status = SPIRV_NO_MEMORY;
    if (context && parser) {
        parser->see = see;
        parser->state = state;
        spv_result_t result = spvBinaryParse(context, parser, module->words, module->count, NULL, see_parsed, NULL);
        if (result != SPV_ERROR_OUT_OF_MEMORY) status = result == SPV_SUCCESS ? SPIRV_OK : SPIRV_BAD;
    }
    free(parser);
    spvContextDestroy(context);
    return status;
}

const char *spirv_opcode_name(uint16_t opcode) { return spvOpcodeString(opcode); }

uint32_t *spirv_assemble(const char *text, size_t *count, engine_log *log)
{
    enum { HEADER_WORDS = 5 };
    spv_context context = spvContextCreate(SPV_ENV_UNIVERSAL_1_4);
    if (!context) return NULL;
    spv_binary binary = NULL;
    spv_diagnostic diagnostic = NULL;
    uint32_t *words = NULL;
    spv_result_t result = spvTextToBinaryWithOptions(
        context, text, strlen(text), SPV_TEXT_TO_BINARY_OPTION_PRESERVE_NUMERIC_IDS, &binary, &diagnostic);
    if (result == SPV_SUCCESS) {
        *count = binary->wordCount - HEADER_WORDS;
        words = malloc(*count * sizeof *words + 1);
        if (words) memcpy(words, binary->code + HEADER_WORDS, *count * sizeof *words);
    } else {
        engine_say(log, "emulation does not assemble: %s", diagnostic ? diagnostic->error : "");
    }
    spvDiagnosticDestroy(diagnostic);
    spvBinaryDestroy(binary);
    spvContextDestroy(context);
    return words;
}
