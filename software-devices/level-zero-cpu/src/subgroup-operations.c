#include "subgroup-operations.h"

#include "subgroup-intel.h"
#include "subgroup-slots.h"
#include "subgroup-templates.h"
#include "subgroups.h"

#include <string.h>

#define COMBINE(op) "%added = " op " %T %sum %value\n"
#define CHOOSE(less) "%less = " less " %B %value %sum\n%added = OpSelect %T %less %value %sum\n"

static const char ADD_INTEGERS[] = COMBINE("OpIAdd");
static const char ADD_FLOATS[] = COMBINE("OpFAdd");
static const char MULTIPLY_INTEGERS[] = COMBINE("OpIMul");
static const char MULTIPLY_FLOATS[] = COMBINE("OpFMul");
static const char AND[] = COMBINE("OpBitwiseAnd");
static const char OR[] = COMBINE("OpBitwiseOr");
static const char XOR[] = COMBINE("OpBitwiseXor");
static const char SIGNED_MINIMUM[] = CHOOSE("OpSLessThan");
static const char SIGNED_MAXIMUM[] = CHOOSE("OpSGreaterThan");
static const char UNSIGNED_MINIMUM[] = CHOOSE("OpULessThan");
static const char UNSIGNED_MAXIMUM[] = CHOOSE("OpUGreaterThan");
static const char FLOAT_MINIMUM[] = CHOOSE("OpFOrdLessThan");
static const char FLOAT_MAXIMUM[] = CHOOSE("OpFOrdGreaterThan");

typedef enum { ZERO, ONE, FLOAT_ONE, ALL_ONES, SIGNED_HIGHEST, SIGNED_LOWEST, INFINITE, MINUS_INFINITE } identity_kind;

static const struct {
    uint16_t group, non_uniform; /* opcodes; 0 for none */
    const char *combine;
    identity_kind identity;
} folds[] = {
    {SpvOpGroupIAdd, SpvOpGroupNonUniformIAdd, ADD_INTEGERS, ZERO},
    {SpvOpGroupFAdd, SpvOpGroupNonUniformFAdd, ADD_FLOATS, ZERO},
    {0, SpvOpGroupNonUniformIMul, MULTIPLY_INTEGERS, ONE},
    {0, SpvOpGroupNonUniformFMul, MULTIPLY_FLOATS, FLOAT_ONE},
    {SpvOpGroupSMin, SpvOpGroupNonUniformSMin, SIGNED_MINIMUM, SIGNED_HIGHEST},
    {SpvOpGroupUMin, SpvOpGroupNonUniformUMin, UNSIGNED_MINIMUM, ALL_ONES},
    {SpvOpGroupFMin, SpvOpGroupNonUniformFMin, FLOAT_MINIMUM, INFINITE},
    {SpvOpGroupSMax, SpvOpGroupNonUniformSMax, SIGNED_MAXIMUM, SIGNED_LOWEST},
    {SpvOpGroupUMax, SpvOpGroupNonUniformUMax, UNSIGNED_MAXIMUM, ZERO},
    {SpvOpGroupFMax, SpvOpGroupNonUniformFMax, FLOAT_MAXIMUM, MINUS_INFINITE},
    {0, SpvOpGroupNonUniformBitwiseAnd, AND, ALL_ONES},
    {0, SpvOpGroupNonUniformBitwiseOr, OR, ZERO},
    {0, SpvOpGroupNonUniformBitwiseXor, XOR, ZERO},
};

bool subgroup_is_group_opcode(uint16_t opcode)
{
    bool core = opcode >= SpvOpGroupAll && opcode <= SpvOpGroupSMax;
    bool non_uniform = opcode >= SpvOpGroupNonUniformElect && opcode <= SpvOpGroupNonUniformQuadSwap;
    bool intel = opcode >= SpvOpSubgroupShuffleINTEL && opcode <= SpvOpSubgroupImageMediaBlockWriteINTEL;
    bool khronos = opcode >= SpvOpSubgroupBallotKHR && opcode <= SpvOpSubgroupReadInvocationKHR;
    return core || non_uniform || intel || khronos;
}

static uint64_t float_bits(unsigned bits, uint64_t half, uint64_t single, uint64_t twice)
{
    return bits == 16 ? half : bits == 32 ? single : twice;
}

static uint64_t identity_bits(identity_kind kind, unsigned bits)
{
    const uint64_t all = UINT64_MAX >> (64 - bits), top = UINT64_C(1) << (bits - 1);
    switch (kind) {
    case ONE: return 1;
    case FLOAT_ONE: return float_bits(bits, 0x3c00, 0x3f800000, UINT64_C(0x3ff0000000000000));
    case ALL_ONES: return all;
    case SIGNED_HIGHEST: return all ^ top;
    case SIGNED_LOWEST: return top;
    case INFINITE: return float_bits(bits, 0x7c00, 0x7f800000, UINT64_C(0x7ff0000000000000));
    case MINUS_INFINITE: return float_bits(bits, 0xfc00, 0xff800000, UINT64_C(0xfff0000000000000));
    default: return 0;
    }
}

/* 0 where there is none: a vector of something else than zeros. */
static uint32_t identity_of(subgroup_functions *functions, identity_kind kind, uint32_t type)
{
    unsigned bits = subgroup_bits(functions, type);
    bool is_vector = subgroup_components(functions, type) != 1;
    if (is_vector && kind == ZERO) return spirv_declare_constant(functions->edit, SpvOpConstantNull, type, 0, NULL);
    if (is_vector || bits == 0) return 0;
    uint64_t value = identity_bits(kind, bits);
    const uint32_t words[2] = {(uint32_t)value, (uint32_t)(value >> 32)};
    return spirv_declare_constant(functions->edit, SpvOpConstant, type, bits == 64 ? 2 : 1, words);
}

static uint32_t fold_of(subgroup_functions *functions, const char *combine, uint32_t type, uint32_t span)
{
    return subgroup_function(functions, &(subgroup_recipe){.text = PUBLISH_AND_FOLD_TEXT,
                                                           .operation = combine,
                                                           .bounds = REDUCE_BOUNDS,
                                                           .result = type,
                                                           .value = type,
                                                           .parameters = {type},
                                                           .parameter_count = 1,
                                                           .span = span});
}

static uint32_t shuffle_of(subgroup_functions *functions, uint32_t type, uint32_t span)
{
    return subgroup_function(functions, &(subgroup_recipe){.text = SHUFFLE_TEXT,
                                                           .result = type,
                                                           .value = type,
                                                           .parameters = {type, functions->uint_type},
                                                           .parameter_count = 2,
                                                           .span = span});
}

static uint32_t type_of(const subgroup_functions *functions, uint32_t id)
{
    const uint32_t *definition = spirv_definition(functions->edit->module, id);
    return definition ? definition[1] : 0;
}

/* An instruction taken apart. */
typedef struct {
    subgroup_functions *functions;
    uint16_t opcode;
    uint32_t result; /* type */
    uint32_t span;
    const uint32_t *operands; /* after the scope where it has one */
    unsigned operand_count;
    uint32_t slot; /* constant: where the value is, for what work-items take from each other */
} group_instruction;

static bool call_one(subgroup_call *call, uint32_t function, const uint32_t *arguments, unsigned count)
{
    call->function = function;
    call->argument_count = count;
    for (unsigned at = 0; at < count; at++) call->arguments[at] = arguments[at];
    return function != 0;
}

static bool fold(const group_instruction *of, size_t row, subgroup_call *call)
{
    uint32_t operation = of->operands[0];
    uint64_t span = of->span;
    if (of->slot == 0) return false;
    subgroup_recipe recipe = {.text = FOLD_TEXT,
                              .operation = folds[row].combine,
                              .bounds = REDUCE_BOUNDS,
                              .result = of->result,
                              .value = of->result,
                              .parameters = {of->functions->ulong_type},
                              .parameter_count = 1,
                              .slots = subgroup_pool_of(of->functions, of->result)->variable};
    switch (operation) {
    case SpvGroupOperationReduce: break;
    case SpvGroupOperationInclusiveScan: recipe.bounds = INCLUSIVE_BOUNDS; break;
    case SpvGroupOperationExclusiveScan:
        recipe.bounds = EXCLUSIVE_BOUNDS;
        recipe.identity = identity_of(of->functions, folds[row].identity, of->result);
        if (recipe.identity == 0) return false;
        break;
    case SpvGroupOperationClusteredReduce:
        if (of->operand_count < 3 || !spirv_integer(of->functions->edit->module, of->operands[2], &span)) return false;
        if (span == 0 || span > of->span || (span & (span - 1)) != 0) return false;
        break;
    default: return false;
    }
    recipe.span = (uint32_t)span;
    return call_one(call, subgroup_function(of->functions, &recipe), &of->slot, 1);
}

/* From a place in the sub-group that $operation computes from the second operand. */
static bool shuffle_to(const group_instruction *of, const char *operation, subgroup_call *call)
{
    subgroup_functions *functions = of->functions;
    uint32_t index = type_of(functions, of->operands[1]);
    if (of->slot == 0 || subgroup_bits(functions, index) == 0) return false;
    subgroup_recipe recipe = {.text = SHUFFLE_TO_TEXT,
                              .operation = operation,
                              .result = of->result,
                              .value = of->result,
                              .index = index,
                              .parameters = {functions->ulong_type, index},
                              .parameter_count = 2,
                              .span = of->span,
                              .slots = subgroup_pool_of(functions, of->result)->variable};
    return call_one(call, subgroup_function(functions, &recipe), (uint32_t[]){of->slot, of->operands[1]}, 2);
}

static bool broadcast(const group_instruction *of, subgroup_call *call)
{
    if (of->slot != 0) return shuffle_to(of, TO_GIVEN, call);
    uint32_t index = type_of(of->functions, of->operands[1]);
    if (subgroup_bits(of->functions, of->result) == 0 || subgroup_bits(of->functions, index) == 0) return false;
    unsigned components = subgroup_components(of->functions, index);
    subgroup_recipe recipe = {.text = components == 1 ? BROADCAST_TEXT : BROADCAST_AT_TEXT,
                              .bounds = components == 3 ? THIRD : NO_THIRD,
                              .result = of->result,
                              .value = of->result,
                              .index = index,
                              .parameters = {of->result, index},
                              .parameter_count = 2,
                              .span = of->span,
                              .shuffle = shuffle_of(of->functions, of->result, of->span)};
    return call_one(call, subgroup_function(of->functions, &recipe), of->operands, 2);
}

static bool shuffle_two(const group_instruction *of, const char *operation, subgroup_call *call)
{
    uint32_t index = type_of(of->functions, of->operands[2]);
    if (subgroup_bits(of->functions, of->result) == 0 || subgroup_bits(of->functions, index) != 32) return false;
    subgroup_recipe recipe = {.text = SHUFFLE_TWO_TEXT,
                              .operation = operation,
                              .result = of->result,
                              .value = of->result,
                              .parameters = {of->result, of->result, index},
                              .parameter_count = 3,
                              .span = of->span,
                              .shuffle = shuffle_of(of->functions, of->result, of->span)};
    return call_one(call, subgroup_function(of->functions, &recipe), of->operands, 3);
}

/* Functions of one value that go through a fold of integers. */
static bool vote(const group_instruction *of, const char *text, const char *combine, subgroup_call *call)
{
    subgroup_functions *functions = of->functions;
    subgroup_recipe recipe = {.text = text,
                              .result = of->result,
                              .parameters = {functions->bool_type},
                              .parameter_count = 1,
                              .span = of->span,
                              .fold = fold_of(functions, combine, functions->uint_type, of->span)};
    return call_one(call, subgroup_function(functions, &recipe), of->operands, 1);
}

static bool all_equal(const group_instruction *of, subgroup_call *call)
{
    subgroup_functions *functions = of->functions;
    uint32_t type = type_of(functions, of->operands[0]);
    const uint32_t *definition = spirv_definition(functions->edit->module, type);
    if (subgroup_bits(functions, type) == 0 || subgroup_components(functions, type) != 1 || !definition) return false;
    subgroup_recipe recipe = {.text = ALL_EQUAL_TEXT,
                              .operation = spirv_opcode(definition) == SpvOpTypeFloat ? "OpFOrdEqual" : "OpIEqual",
                              .result = of->result,
                              .value = type,
                              .parameters = {type},
                              .parameter_count = 1,
                              .span = of->span,
                              .fold = fold_of(functions, UNSIGNED_MINIMUM, functions->uint_type, of->span),
                              .shuffle = shuffle_of(functions, type, of->span)};
    return call_one(call, subgroup_function(functions, &recipe), of->operands, 1);
}

/* Functions that need no exchange, of operands from `first` on. */
static bool local(const group_instruction *of, const char *text, const char *operation, unsigned first,
                  subgroup_call *call)
{
    subgroup_functions *functions = of->functions;
    subgroup_recipe recipe = {.text = text, .operation = operation, .result = of->result, .span = of->span};
    for (unsigned at = first; at < of->operand_count && recipe.parameter_count < 3; at++)
        recipe.parameters[recipe.parameter_count++] = type_of(functions, of->operands[at]);
    recipe.value = recipe.parameters[0];
    recipe.index = recipe.parameters[1];
    return call_one(call, subgroup_function(functions, &recipe), of->operands + first, recipe.parameter_count);
}

static bool shuffle_first(const group_instruction *of, subgroup_call *call)
{
    if (subgroup_bits(of->functions, of->result) == 0) return false;
    subgroup_recipe recipe = {.text = SHUFFLE_FIRST_TEXT,
                              .result = of->result,
                              .value = of->result,
                              .parameters = {of->result},
                              .parameter_count = 1,
                              .span = of->span,
                              .shuffle = shuffle_of(of->functions, of->result, of->span)};
    return call_one(call, subgroup_function(of->functions, &recipe), of->operands, 1);
}

static bool ballot_count(const group_instruction *of, subgroup_call *call)
{
    const char *const counted[] = {COUNT_ALL, COUNT_INCLUSIVE, COUNT_EXCLUSIVE};
    if (of->operands[0] > SpvGroupOperationExclusiveScan || of->result != of->functions->uint_type) return false;
    return local(of, BALLOT_COUNT_TEXT, counted[of->operands[0]], 1, call);
}

static bool find(const group_instruction *of, subgroup_call *call)
{
    for (size_t row = 0; row < sizeof folds / sizeof *folds; row++)
        if (of->opcode == folds[row].group || of->opcode == folds[row].non_uniform) return fold(of, row, call);
    switch (of->opcode) {
    case SpvOpGroupAll:
    case SpvOpGroupNonUniformAll: return vote(of, VOTE_TEXT, UNSIGNED_MINIMUM, call);
    case SpvOpGroupAny:
    case SpvOpGroupNonUniformAny: return vote(of, VOTE_TEXT, UNSIGNED_MAXIMUM, call);
    case SpvOpGroupNonUniformAllEqual: return all_equal(of, call);
    case SpvOpGroupNonUniformElect: return local(of, ELECT_TEXT, NULL, 0, call);
    case SpvOpGroupBroadcast: return broadcast(of, call);
    case SpvOpGroupNonUniformBroadcast:
    case SpvOpGroupNonUniformShuffle:
    case SpvOpSubgroupShuffleINTEL: return shuffle_to(of, TO_GIVEN, call);
    case SpvOpGroupNonUniformShuffleXor:
    case SpvOpSubgroupShuffleXorINTEL: return shuffle_to(of, TO_XOR, call);
    case SpvOpGroupNonUniformShuffleUp: return shuffle_to(of, TO_UP, call);
    case SpvOpGroupNonUniformShuffleDown: return shuffle_to(of, TO_DOWN, call);
    case SpvOpGroupNonUniformBroadcastFirst: return shuffle_first(of, call);
    case SpvOpSubgroupShuffleDownINTEL: return shuffle_two(of, INTEL_DOWN, call);
    case SpvOpSubgroupShuffleUpINTEL: return shuffle_two(of, INTEL_UP, call);
    case SpvOpGroupNonUniformBallot: return vote(of, BALLOT_TEXT, OR, call);
    case SpvOpGroupNonUniformInverseBallot: return local(of, INVERSE_BALLOT_TEXT, NULL, 0, call);
    case SpvOpGroupNonUniformBallotBitExtract: return local(of, BALLOT_BIT_TEXT, NULL, 0, call);
    case SpvOpGroupNonUniformBallotBitCount: return ballot_count(of, call);
    case SpvOpSubgroupBlockReadINTEL: return subgroup_block_read(of->functions, of->result, of->operands, call);
    default: return false;
    }
}

bool subgroup_call_for(subgroup_functions *functions, const uint32_t *instruction, uint32_t slot, subgroup_call *call)
{
    /* The only one without a result. */
    if (spirv_opcode(instruction) == SpvOpSubgroupBlockWriteINTEL) {
        call->result = functions->void_type;
        return subgroup_block_write(functions, instruction + 1, call);
    }
    call->result = instruction[1];
    group_instruction of = {.functions = functions,
                            .opcode = spirv_opcode(instruction),
                            .result = instruction[1],
                            .span = functions->size,
                            .operands = instruction + 3,
                            .operand_count = spirv_length(instruction) - 3u,
                            .slot = slot};
    bool has_scope = of.opcode < SpvOpSubgroupShuffleINTEL;
    uint64_t scope = SpvScopeSubgroup;
    if (has_scope) {
        if (!spirv_integer(functions->edit->module, instruction[3], &scope)) return false;
        of.operands++;
        of.operand_count--;
        if (scope == SpvScopeWorkgroup) of.span = SUBGROUP_MAX_GROUP;
    }
    bool non_uniform = of.opcode >= SpvOpGroupNonUniformElect && has_scope;
    if (scope != SpvScopeSubgroup && (non_uniform || scope != SpvScopeWorkgroup)) return false;
    return find(&of, call);
}

uint32_t subgroup_builtin(subgroup_functions *functions, uint32_t builtin)
{
    const char *text = SIZE_TEXT;
    if (builtin == SpvBuiltInSubgroupMaxSize) text = MAX_SIZE_TEXT;
    if (builtin == SpvBuiltInNumSubgroups || builtin == SpvBuiltInNumEnqueuedSubgroups) text = COUNT_TEXT;
    if (builtin == SpvBuiltInSubgroupId) text = INDEX_TEXT;
    if (builtin == SpvBuiltInSubgroupLocalInvocationId) text = LANE_TEXT;
    return subgroup_function(functions,
                             &(subgroup_recipe){.text = text, .result = functions->uint_type, .span = functions->size});
}
