/* Assembly of what Intel's GPUs have. Names: see `subgroup_define_function` in subgroup-functions.c. */
#ifndef SUBGROUP_INTEL_TEMPLATES_H
#define SUBGROUP_INTEL_TEMPLATES_H

#include "subgroup-templates.h"

/* Component i of a work-item is element i * span + lane of a block. */
#define FIRST LANE "%place0 = OpCopyObject %ulong %wide_lane\n"
#define THEN(i, before) "%place" #i " = OpIAdd %ulong %place" #before " %wide_span\n"
#define AT(i) "%at" #i " = OpInBoundsPtrAccessChain %I %pointer %place" #i "\n"
#define EACH_OF_2(ACT) FIRST ACT(0) THEN(1, 0) ACT(1)
#define EACH_OF_4(ACT) EACH_OF_2(ACT) THEN(2, 1) ACT(2) THEN(3, 2) ACT(3)
#define EACH_OF_8(ACT) EACH_OF_4(ACT) THEN(4, 3) ACT(4) THEN(5, 4) ACT(5) THEN(6, 5) ACT(6) THEN(7, 6) ACT(7)

#define READ_BEGIN BEGIN "%pointer = OpFunctionParameter %I\n" ENTRY
#define READ(i) AT(i) "%x" #i " = OpLoad %R_part %at" #i "\n"
#define READ_END(components) "%all = OpCompositeConstruct %R " components "\nOpReturnValue %all\n" END
static const char READ_1_TEXT[] = READ_BEGIN FIRST READ(0) "OpReturnValue %x0\n" END;
static const char READ_2_TEXT[] = READ_BEGIN EACH_OF_2(READ) READ_END("%x0 %x1");
static const char READ_4_TEXT[] = READ_BEGIN EACH_OF_4(READ) READ_END("%x0 %x1 %x2 %x3");
static const char READ_8_TEXT[] = READ_BEGIN EACH_OF_8(READ) READ_END("%x0 %x1 %x2 %x3 %x4 %x5 %x6 %x7");

#define WRITE_BEGIN BEGIN "%pointer = OpFunctionParameter %I\n%x = OpFunctionParameter %T\n" ENTRY
#define WRITE(i) AT(i) "%x" #i " = OpCompositeExtract %T_part %x " #i "\nOpStore %at" #i " %x" #i "\n"
static const char WRITE_1_TEXT[] = WRITE_BEGIN FIRST AT(0) "OpStore %at0 %x\nOpReturn\n" END;
static const char WRITE_2_TEXT[] = WRITE_BEGIN EACH_OF_2(WRITE) "OpReturn\n" END;
static const char WRITE_4_TEXT[] = WRITE_BEGIN EACH_OF_4(WRITE) "OpReturn\n" END;
static const char WRITE_8_TEXT[] = WRITE_BEGIN EACH_OF_8(WRITE) "OpReturn\n" END;

/* Integers that hold halves, as floats; %I are the halves. */
static const char WIDEN_TEXT[] = BEGIN "%x = OpFunctionParameter %T\n" ENTRY "%halves = OpBitcast %I %x\n"
                                       "%result = OpFConvert %R %halves\n"
                                       "OpReturnValue %result\n" END;

/*
 * A B + C, column by column of A, which is in a slot from %place on; $operation makes %added of %sum and %wide, what
 * work-item %i of the sub-group has.
 */
static const char MATRIX_TEXT[] = BEGIN "%place = OpFunctionParameter %ulong\n"
                                        "%y = OpFunctionParameter %I\n"
                                        "%z = OpFunctionParameter %R\n" ENTRY LANE
                                        "%start = OpIAdd %ulong %place %wide_first\n"
                                        "%factors = OpFunctionCall %wide_y %widen_y %y\n"
                                        "OpBranch %header\n"
                                        "%header = OpLabel\n"
                                        "%i = OpPhi %uint %zero %entry %next %body\n"
                                        "%sum = OpPhi %R %z %entry %added %body\n"
                                        "%more = OpULessThan %bool %i %span\n"
                                        "OpLoopMerge %done %body None\n"
                                        "OpBranchConditional %more %body %done\n"
                                        "%body = OpLabel\n"
                                        "%wide_i = OpUConvert %ulong %i\n"
                                        "%from = OpIAdd %ulong %start %wide_i\n"
                                        "%slot = OpInBoundsAccessChain %T_pointer %memory %from\n"
                                        "%share = OpLoad %T %slot\n"
                                        "%wide = OpFunctionCall %wide_x %widen_x %share\n"
                                        "$operation\n"
                                        "%next = OpIAdd %uint %i %one\n"
                                        "OpBranch %header\n"
                                        "%done = OpLabel\n"
                                        "OpReturnValue %sum\n" END;

/* The product of two halves is exact in a float, so that nothing is lost by rounding it and the sum apart. */
#define ADD_PRODUCT(sum, column, place, before)                                                                        \
    "%factor_" sum " = OpVectorExtractDynamic %R_part %factors %" place "\n"                                           \
    "%product_" sum " = $times %R %" column " %factor_" sum "\n"                                                       \
    "%" sum " = OpFAdd %R %" before " %product_" sum "\n"
static const char ADD_COLUMN[] = ADD_PRODUCT("added", "wide", "i", "sum");
/* $bounds makes %even and %odd, the two columns of %wide. */
static const char ADD_TWO_COLUMNS[] = "$bounds\n"
                                      "%even_place = OpIAdd %uint %i %i\n"
                                      "%odd_place = OpIAdd %uint %even_place %one\n" ADD_PRODUCT(
                                          "partly", "even", "even_place", "sum")
                                          ADD_PRODUCT("added", "odd", "odd_place", "partly");

#define APART(evens, odds)                                                                                             \
    "%even = OpVectorShuffle %R %wide %wide " evens "\n%odd = OpVectorShuffle %R %wide %wide " odds "\n"
static const char APART_1[] = "%even = OpCompositeExtract %R %wide 0\n%odd = OpCompositeExtract %R %wide 1\n";
static const char APART_2[] = APART("0 2", "1 3");
static const char APART_4[] = APART("0 2 4 6", "1 3 5 7");
static const char APART_8[] = APART("0 2 4 6 8 10 12 14", "1 3 5 7 9 11 13 15");

#endif
