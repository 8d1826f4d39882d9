/*
 * Sub-groups, which PoCL does not have, and what else it lacks of groups: such instructions become calls of functions
 * that exchange values through workgroup memory, between barriers.
 *
 * A sub-group is a run of work-items that follow each other in the group; the last one may be smaller. As any operation
 * may be a barrier of the whole group, all items of the group have to reach it, not only those of the sub-group.
 *
 * Emulated are what spirv-builder writes. In scope Subgroup: OpGroupBroadcast, and the reduction of OpGroupIAdd, FAdd, FMin,
 * UMin, SMin, FMax, UMax and SMax; OpSubgroupShuffleINTEL; OpSubgroupBlockReadINTEL and BlockWriteINTEL of 16-bit and
 * 32-bit integers, which are no barriers; the imports in subgroup-intel.c; the built-in variables SubgroupSize,
 * NumSubgroups, SubgroupId, SubgroupLocalInvocationId. Others are refused by name. Execution mode SubgroupSize may ask for
 * one of `subgroup_sizes`.
 */
#ifndef SUBGROUPS_H
#define SUBGROUPS_H

#include "engine-log.h"
#include "engine.h"
#include "spirv-module.h"

enum {
    SUBGROUP_MAX_GROUP = 1024,
    SUBGROUP_SEMANTICS = 0x310 /* SequentiallyConsistent, of WorkgroupMemory and CrossWorkgroupMemory */
};

/* Sizes that there are; the first is what a module has that asks for none. */
extern const uint32_t subgroup_sizes[ENGINE_SUBGROUP_SIZES];

/*
 * Rewrites the module where it uses any of these; `size` is what its sub-groups have. SPIRV_BAD with a line in the log
 * for what is not emulated.
 */
spirv_status subgroups_emulate(spirv_module *module, uint32_t *size, engine_log *log);

#endif
