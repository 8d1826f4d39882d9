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
static const char SIZE_TEXT[] =
    BEGIN ENTRY LANE STOP "%result = OpISub %uint %stop %first\nOpReturnValue %result\n" END;
static const char COUNT_TEXT[] = BEGIN ENTRY "%total = OpFunctionCall %uint %total_of\n"
                                             "%less = OpISub %uint %total %one\n"
                                             "%whole = OpUDiv %uint %less %span\n"
                                             "%result = OpIAdd %uint %whole %one\n"
                                             "OpReturnValue %result\n" END;

/* The work-item's value goes into a slot, which starts at %place. */
static const char STORE_TEXT[] = BEGIN "%x = OpFunctionParameter %T\n"
                                       "%place = OpFunctionParameter %ulong\n" ENTRY CALL_ITEM
                                       "%at = OpIAdd %ulong %place %wide_item\n"
                                       "%own = OpInBoundsAccessChain %T_pointer %memory %at\n"
                                       "OpStore %own %x\n"
                                       "OpReturn\n" END;

/* The value of another item in a slot, by its number in the sub-group; wraps around. */
static const char SHUFFLE_TEXT[] =
    BEGIN "%place = OpFunctionParameter %ulong\n"
          "%index = OpFunctionParameter %I\n" ENTRY LANE "%wrapped = OpUMod %uint %index %span\n"
          "%wide_to = OpUConvert %ulong %wrapped\n"
          "%from = OpIAdd %ulong %wide_first %wide_to\n"
          "%at = OpIAdd %ulong %place %from\n"
          "%theirs = OpInBoundsAccessChain %T_pointer %memory %at\n"
          "%result = OpLoad %T %theirs\n"
          "OpReturnValue %result\n" END;

/* All values of the sub-group in a slot, combined: $operation makes %added of %sum and %value. */
static const char FOLD_TEXT[] =
    BEGIN "%place = OpFunctionParameter %ulong\n" ENTRY LANE STOP "%start = OpIAdd %uint %first %one\n"
          "%first_at = OpIAdd %ulong %place %wide_first\n"
          "%first_value = OpInBoundsAccessChain %T_pointer %memory %first_at\n"
          "%initial = OpLoad %T %first_value\n"
          "OpBranch %header\n"
          "%header = OpLabel\n"
          "%i = OpPhi %uint %start %entry %next %body\n"
          "%sum = OpPhi %T %initial %entry %added %body\n"
          "%more = OpULessThan %bool %i %stop\n"
          "OpLoopMerge %done %body None\n"
          "OpBranchConditional %more %body %done\n"
          "%body = OpLabel\n"
          "%wide_i = OpUConvert %ulong %i\n"
          "%at = OpIAdd %ulong %place %wide_i\n"
          "%theirs = OpInBoundsAccessChain %T_pointer %memory %at\n"
          "%value = OpLoad %T %theirs\n"
          "$operation\n"
          "%next = OpIAdd %uint %i %one\n"
          "OpBranch %header\n"
          "%done = OpLabel\n"
          "OpReturnValue %sum\n" END;
#define COMBINE(op) "%added = " op " %T %sum %value\n"
#define CHOOSE(less) "%less = " less " %B %value %sum\n%added = OpSelect %T %less %value %sum\n"

#endif
