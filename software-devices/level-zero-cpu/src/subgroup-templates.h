/* Assembly of the emulations. Names: see `subgroup_define_function` in subgroup-functions.c. */
#ifndef SUBGROUP_TEMPLATES_H
#define SUBGROUP_TEMPLATES_H

#define BEGIN "%function = OpFunction %R None %type\n"
#define ENTRY "%entry = OpLabel\n"
#define END "OpFunctionEnd\n"

/* Number of the work-item in its group. */
static const char ITEM_TEXT[] = BEGIN ENTRY "%id = OpLoad %v3ulong %local_id\n"
                                            "%size = OpLoad %v3ulong %group_size\n"
                                            "%x = OpCompositeExtract %ulong %id 0\n"
                                            "%y = OpCompositeExtract %ulong %id 1\n"
                                            "%z = OpCompositeExtract %ulong %id 2\n"
                                            "%width = OpCompositeExtract %ulong %size 0\n"
                                            "%height = OpCompositeExtract %ulong %size 1\n"
                                            "%plane = OpIMul %ulong %z %height\n"
                                            "%row = OpIAdd %ulong %plane %y\n"
                                            "%before = OpIMul %ulong %row %width\n"
                                            "%sum = OpIAdd %ulong %before %x\n"
                                            "OpReturnValue %sum\n" END;

/* The number of work-items of the group. */
static const char TOTAL_TEXT[] = BEGIN ENTRY "%size = OpLoad %v3ulong %group_size\n"
                                             "%width = OpCompositeExtract %ulong %size 0\n"
                                             "%height = OpCompositeExtract %ulong %size 1\n"
                                             "%depth = OpCompositeExtract %ulong %size 2\n"
                                             "%plane = OpIMul %ulong %width %height\n"
                                             "%volume = OpIMul %ulong %plane %depth\n"
                                             "%result = OpUConvert %uint %volume\n"
                                             "OpReturnValue %result\n" END;

/* Indices are wide, as narrow ones would be extended in every address, which hides from PoCL's loops how they step. */
#define CALL_ITEM "%wide_item = OpFunctionCall %ulong %item_of\n%item = OpUConvert %uint %wide_item\n"
#define LANE                                                                                                           \
    CALL_ITEM "$lanes\n"                                                                                               \
              "%wide_first = OpISub %ulong %wide_item %wide_lane\n"                                                    \
              "%lane = OpUConvert %uint %wide_lane\n"                                                                  \
              "%first = OpUConvert %uint %wide_first\n"

/* $lanes makes %wide_lane. Where a sub-group is just a row of the group, there is nothing to divide. */
static const char LANE_IN_SPAN[] = "%wide_lane = OpUMod %ulong %wide_item %wide_span\n";
static const char LANE_IN_ROW[] = "%own_id = OpLoad %v3ulong %local_id\n"
                                  "%wide_lane = OpCompositeExtract %ulong %own_id 0\n";
/* One past the last item of the sub-group. */
#define STOP                                                                                                           \
    "%full = OpIAdd %uint %first %span\n"                                                                              \
    "%total = OpFunctionCall %uint %total_of\n"                                                                        \
    "%short = OpULessThan %bool %total %full\n"                                                                        \
    "%stop = OpSelect %uint %short %total %full\n"

static const char LANE_TEXT[] = BEGIN ENTRY LANE "OpReturnValue %lane\n" END;
static const char INDEX_TEXT[] =
    BEGIN ENTRY CALL_ITEM "%result = OpUDiv %uint %item %span\nOpReturnValue %result\n" END;
static const char MAX_SIZE_TEXT[] = BEGIN ENTRY "OpReturnValue %span\n" END;
static const char SIZE_TEXT[] =
    BEGIN ENTRY LANE STOP "%result = OpISub %uint %stop %first\nOpReturnValue %result\n" END;
static const char COUNT_TEXT[] = BEGIN ENTRY "%total = OpFunctionCall %uint %total_of\n"
                                             "%less = OpISub %uint %total %one\n"
                                             "%whole = OpUDiv %uint %less %span\n"
                                             "%result = OpIAdd %uint %whole %one\n"
                                             "OpReturnValue %result\n" END;
static const char ELECT_TEXT[] = BEGIN ENTRY LANE "%result = OpIEqual %bool %lane %zero\nOpReturnValue %result\n" END;

#define BARRIER "OpControlBarrier %workgroup %workgroup %semantics\n"
/* Every item puts its value where the others find it. */
#define PUBLISH                                                                                                        \
    LANE "%own = OpInBoundsAccessChain %T_pointer %memory %wide_item\n"                                                \
         "OpStore %own %x\n" BARRIER

/* The value of another item, by its number in the span; wraps around. */
static const char SHUFFLE_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n"
          "%index = OpFunctionParameter %uint\n" ENTRY PUBLISH "%wrapped = OpUMod %uint %index %span\n"
          "%from = OpIAdd %uint %first %wrapped\n"
          "%slot = OpInBoundsAccessChain %T_pointer %memory %from\n"
          "%result = OpLoad %T %slot\n" BARRIER "OpReturnValue %result\n" END;

/* The work-item's value goes into a slot, which starts at %place. */
static const char STORE_TEXT[] = BEGIN "%x = OpFunctionParameter %T\n"
                                       "%place = OpFunctionParameter %ulong\n" ENTRY CALL_ITEM
                                       "%at = OpIAdd %ulong %place %wide_item\n"
                                       "%own = OpInBoundsAccessChain %T_pointer %memory %at\n"
                                       "OpStore %own %x\n"
                                       "OpReturn\n" END;

/* The value of another item in a slot. $operation makes %to, a number in the span, of %given and %lane. */
static const char SHUFFLE_TO_TEXT[] =
    BEGIN "%place = OpFunctionParameter %ulong\n"
          "%index = OpFunctionParameter %I\n" ENTRY LANE "%given = $convert %uint %index\n"
          "$operation\n"
          "%wrapped = OpUMod %uint %to %span\n"
          "%wide_to = OpUConvert %ulong %wrapped\n"
          "%from = OpIAdd %ulong %wide_first %wide_to\n"
          "%at = OpIAdd %ulong %place %from\n"
          "%theirs = OpInBoundsAccessChain %T_pointer %memory %at\n"
          "%result = OpLoad %T %theirs\n"
          "OpReturnValue %result\n" END;

static const char TO_GIVEN[] = "%to = OpCopyObject %uint %given\n";
static const char TO_XOR[] = "%to = OpBitwiseXor %uint %lane %given\n";
static const char TO_UP[] = "%to = OpISub %uint %lane %given\n";
static const char TO_DOWN[] = "%to = OpIAdd %uint %lane %given\n";

/* Of the group. */
static const char BROADCAST_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n"
          "%index = OpFunctionParameter %I\n" ENTRY "%to = $convert %uint %index\n"
          "%result = OpFunctionCall %T %shuffle %x %to\n"
          "OpReturnValue %result\n" END;

/* A local id of two or three numbers. */
static const char BROADCAST_AT_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n"
          "%index = OpFunctionParameter %I\n" ENTRY "%size = OpLoad %v3ulong %group_size\n"
          "%width = OpCompositeExtract %ulong %size 0\n"
          "%height = OpCompositeExtract %ulong %size 1\n"
          "%i = OpCompositeExtract %E %index 0\n"
          "%j = OpCompositeExtract %E %index 1\n"
          "$bounds\n"
          "%column = $convert %ulong %i\n"
          "%line = $convert %ulong %j\n"
          "%plane = OpIMul %ulong %depth %height\n"
          "%row = OpIAdd %ulong %plane %line\n"
          "%before = OpIMul %ulong %row %width\n"
          "%sum = OpIAdd %ulong %before %column\n"
          "%to = OpUConvert %uint %sum\n"
          "%result = OpFunctionCall %T %shuffle %x %to\n"
          "OpReturnValue %result\n" END;
static const char NO_THIRD[] = "%depth = OpUConvert %ulong %zero\n";
static const char THIRD[] = "%k = OpCompositeExtract %E %index 2\n%depth = $convert %ulong %k\n";

static const char SHUFFLE_FIRST_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n" ENTRY "%result = OpFunctionCall %T %shuffle %x %zero\n"
          "OpReturnValue %result\n" END;

/* Intel's: two values side by side, out of which a window is taken. $operation makes %to and %inside. */
static const char SHUFFLE_TWO_TEXT[] = BEGIN "%a = OpFunctionParameter %T\n"
                                             "%b = OpFunctionParameter %T\n"
                                             "%given = OpFunctionParameter %uint\n" ENTRY LANE "$operation\n"
                                             "%from_a = OpFunctionCall %T %shuffle %a %to\n"
                                             "%from_b = OpFunctionCall %T %shuffle %b %to\n"
                                             "OpSelectionMerge %merge None\n"
                                             "OpBranchConditional %inside %yes %no\n"
                                             "%yes = OpLabel\n"
                                             "OpBranch %merge\n"
                                             "%no = OpLabel\n"
                                             "OpBranch %merge\n"
                                             "%merge = OpLabel\n"
                                             "%result = OpPhi %T %from_a %yes %from_b %no\n"
                                             "OpReturnValue %result\n" END;
/* Down takes from (current, next), up from (previous, current): %inside says whether it is the first of the two. */
static const char INTEL_DOWN[] = "%to = OpIAdd %uint %lane %given\n%inside = OpULessThan %bool %to %span\n";
static const char INTEL_UP[] = "%to = OpISub %uint %lane %given\n%inside = OpULessThan %bool %lane %given\n";

/* Of values from %place on. $bounds makes %start, %stop and %initial; $operation makes %added of %sum and %value. */
#define FOLD                                                                                                           \
    "$bounds\n"                                                                                                        \
    "OpBranch %header\n"                                                                                               \
    "%header = OpLabel\n"                                                                                              \
    "%i = OpPhi %uint %start %entry %next %body\n"                                                                     \
    "%sum = OpPhi %T %initial %entry %added %body\n"                                                                   \
    "%more = OpULessThan %bool %i %stop\n"                                                                             \
    "OpLoopMerge %done %body None\n"                                                                                   \
    "OpBranchConditional %more %body %done\n"                                                                          \
    "%body = OpLabel\n"                                                                                                \
    "%wide_i = OpUConvert %ulong %i\n"                                                                                 \
    "%at = OpIAdd %ulong %place %wide_i\n"                                                                             \
    "%theirs = OpInBoundsAccessChain %T_pointer %memory %at\n"                                                         \
    "%value = OpLoad %T %theirs\n"                                                                                     \
    "$operation\n"                                                                                                     \
    "%next = OpIAdd %uint %i %one\n"                                                                                   \
    "OpBranch %header\n"                                                                                               \
    "%done = OpLabel\n"
static const char FOLD_TEXT[] =
    BEGIN "%place = OpFunctionParameter %ulong\n" ENTRY LANE FOLD "OpReturnValue %sum\n" END;
/* Of a value that other functions make. */
static const char PUBLISH_AND_FOLD_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n" ENTRY PUBLISH "%place = OpUConvert %ulong %zero\n" FOLD BARRIER
          "OpReturnValue %sum\n" END;

#define FROM_FIRST                                                                                                     \
    "%start = OpIAdd %uint %first %one\n"                                                                              \
    "%first_at = OpIAdd %ulong %place %wide_first\n"                                                                   \
    "%first_value = OpInBoundsAccessChain %T_pointer %memory %first_at\n"                                              \
    "%initial = OpLoad %T %first_value\n"
static const char REDUCE_BOUNDS[] = FROM_FIRST STOP;
static const char INCLUSIVE_BOUNDS[] = FROM_FIRST "%stop = OpIAdd %uint %item %one\n";
static const char EXCLUSIVE_BOUNDS[] = "%start = OpCopyObject %uint %first\n"
                                       "%stop = OpCopyObject %uint %item\n"
                                       "%initial = OpCopyObject %T %identity\n";

/* Votes: %fold works on integers. */
static const char VOTE_TEXT[] = BEGIN "%x = OpFunctionParameter %bool\n" ENTRY "%bit = OpSelect %uint %x %one %zero\n"
                                      "%folded = OpFunctionCall %uint %fold %bit\n"
                                      "%result = OpINotEqual %bool %folded %zero\n"
                                      "OpReturnValue %result\n" END;
static const char ALL_EQUAL_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n" ENTRY "%other = OpFunctionCall %T %shuffle %x %zero\n"
          "%same = $operation %bool %x %other\n"
          "%bit = OpSelect %uint %same %one %zero\n"
          "%folded = OpFunctionCall %uint %fold %bit\n"
          "%result = OpINotEqual %bool %folded %zero\n"
          "OpReturnValue %result\n" END;
static const char BALLOT_TEXT[] =
    BEGIN "%x = OpFunctionParameter %bool\n" ENTRY LANE "%place = OpShiftLeftLogical %uint %one %lane\n"
          "%bit = OpSelect %uint %x %place %zero\n"
          "%folded = OpFunctionCall %uint %fold %bit\n"
          "%result = OpCompositeConstruct %R %folded %zero %zero %zero\n"
          "OpReturnValue %result\n" END;
static const char INVERSE_BALLOT_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n" ENTRY LANE "%bits = OpCompositeExtract %uint %x 0\n"
          "%moved = OpShiftRightLogical %uint %bits %lane\n"
          "%bit = OpBitwiseAnd %uint %moved %one\n"
          "%result = OpINotEqual %bool %bit %zero\n"
          "OpReturnValue %result\n" END;
static const char BALLOT_BIT_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n"
          "%index = OpFunctionParameter %I\n" ENTRY "%bits = OpCompositeExtract %uint %x 0\n"
          "%given = $convert %uint %index\n"
          "%moved = OpShiftRightLogical %uint %bits %given\n"
          "%bit = OpBitwiseAnd %uint %moved %one\n"
          "%result = OpINotEqual %bool %bit %zero\n"
          "OpReturnValue %result\n" END;
/* $operation makes %mask of the lanes that count. */
static const char BALLOT_COUNT_TEXT[] =
    BEGIN "%x = OpFunctionParameter %T\n" ENTRY LANE STOP "%bits = OpCompositeExtract %uint %x 0\n"
          "$operation\n"
          "%unused = OpISub %uint %word_bits %used\n"
          "%everything = OpShiftRightLogical %uint %ones %unused\n"
          "%mask = OpSelect %uint %none %zero %everything\n"
          "%masked = OpBitwiseAnd %uint %bits %mask\n"
          "%result = OpBitCount %uint %masked\n"
          "OpReturnValue %result\n" END;
static const char COUNT_ALL[] = "%used = OpISub %uint %stop %first\n%none = OpIEqual %bool %used %zero\n";
static const char COUNT_INCLUSIVE[] = "%used = OpIAdd %uint %lane %one\n%none = OpIEqual %bool %used %zero\n";
/* A shift by 32 bits means nothing, so that no lane before this one is a special case. */
static const char COUNT_EXCLUSIVE[] = "%none = OpIEqual %bool %lane %zero\n%used = OpSelect %uint %none %one %lane\n";

#endif
