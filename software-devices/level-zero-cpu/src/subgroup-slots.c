#include "subgroups.h"

#include "subgroup-templates.h"

/* The maximum where a kernel does not say. Groups that are larger than that cannot be launched. */
static uint32_t items_of(const uint32_t group[3])
{
    uint64_t items = group[0];
    for (int axis = 1; axis < 3 && items <= SUBGROUP_MAX_GROUP; axis++) items *= group[axis];
    return items > 0 && items <= SUBGROUP_MAX_GROUP ? (uint32_t)items : SUBGROUP_MAX_GROUP;
}

void subgroup_measure_groups(subgroup_functions *functions, const spirv_module *module)
{
    uint32_t most = 1;
    functions->are_rows = true;
    SPIRV_EACH(at, module) {
        if (spirv_opcode(at) != SpvOpEntryPoint) continue;
        uint32_t group[3] = {0};
        spirv_required_group(module, at[2], group);
        if (items_of(group) > most) most = items_of(group);
        if (group[0] != functions->size) functions->are_rows = false;
    }
    /* The last sub-group may be smaller: what its missing items would have means nothing, but is memory. */
    functions->items = (most + functions->size - 1) / functions->size * functions->size;
}

subgroup_pool *subgroup_pool_of(subgroup_functions *functions, uint32_t type)
{
    for (unsigned at = 0; at < functions->pool_count; at++)
        if (functions->pools[at].type == type) return &functions->pools[at];
    if (functions->pool_count == SUBGROUP_MAX_TYPES) {
        engine_say(functions->edit->log, "work-items of sub-groups take values of more than %d types",
                   SUBGROUP_MAX_TYPES);
        functions->edit->failed = true;
        return NULL;
    }
    const uint64_t bytes = spirv_layout_of(functions->edit->module, type).bytes * functions->items;
    const uint64_t most = SUBGROUP_SLOT_BYTES / bytes;
    subgroup_pool *pool = &functions->pools[functions->pool_count++];
    pool->type = type;
    pool->variable = spirv_new_id(functions->edit);
    pool->read = UINT64_MAX;
    pool->limit = most > SUBGROUP_MAX_SLOTS ? SUBGROUP_MAX_SLOTS : most > 0 ? (uint32_t)most : 1;
    return pool;
}

void subgroup_slots_end(subgroup_functions *functions)
{
    for (unsigned at = 0; at < functions->pool_count; at++) {
        const subgroup_pool *pool = &functions->pools[at];
        const uint32_t count = pool->used > 0 ? pool->used : 1;
        subgroup_declare_array(functions, pool->variable, pool->type, count * functions->items);
    }
}

static uint32_t type_of(const subgroup_functions *functions, uint32_t id)
{
    return spirv_definition(functions->edit->module, id)[1];
}

/* The operand in which an instruction has such a value, 0 for others. */
static unsigned value_word(const subgroup_functions *functions, const uint32_t *at)
{
    const uint16_t opcode = spirv_opcode(at);
    if (opcode >= SpvOpGroupIAdd && opcode <= SpvOpGroupSMax) return 5;
    switch (opcode) {
    case SpvOpGroupBroadcast: return 4;
    case SpvOpSubgroupShuffleINTEL: return 3;
    case SpvOpFunctionCall: return spirv_calls(functions->edit->module, at, true) && spirv_length(at) > 4 ? 4 : 0;
    default: return 0;
    }
}

uint32_t subgroup_taken_value(const subgroup_functions *functions, const uint32_t *instruction)
{
    const unsigned word = value_word(functions, instruction);
    if (word == 0 || subgroup_bits(functions, type_of(functions, instruction[word])) == 0) return 0;
    return instruction[word];
}

static bool ends_slots(const subgroup_functions *functions, const uint32_t *at)
{
    return spirv_opcode(at) == SpvOpLabel || spirv_opcode(at) == SpvOpFunctionEnd ||
           spirv_calls(functions->edit->module, at, false);
}

/* After a barrier no work-item still loads from a slot. At the start of a block, which may be a loop, items may from all. */
static void set_read(subgroup_functions *functions, uint64_t read)
{
    for (unsigned at = 0; at < functions->pool_count; at++) functions->pools[at].read = read;
}

void subgroup_slots_pass(subgroup_slots *slots, const uint32_t *instruction)
{
    if (!ends_slots(slots->functions, instruction)) return;
    slots->held_count = 0;
    set_read(slots->functions, UINT64_MAX);
}

/* Its index among those that are held, or their number. */
static unsigned find_value(const subgroup_slots *slots, uint32_t value)
{
    unsigned at = 0;
    while (at < slots->held_count && slots->held[at].value != value) at++;
    return at;
}

static bool is_taken_from(const subgroup_slots *slots, const uint32_t *at, uint32_t value)
{
    for (; !ends_slots(slots->functions, at); at += spirv_length(at))
        if (subgroup_taken_value(slots->functions, at) == value) return true;
    return false;
}

static void drop_what_is_over(subgroup_slots *slots, const uint32_t *from)
{
    unsigned kept = 0;
    for (unsigned at = 0; at < slots->held_count; at++)
        if (is_taken_from(slots, from, slots->held[at].value)) slots->held[kept++] = slots->held[at];
    slots->held_count = kept;
}

/* A slot of a pool that holds nothing, of these one that is not loaded from any more, or the limit. */
static uint32_t free_slot(const subgroup_slots *slots, const subgroup_pool *pool)
{
    uint64_t full = 0;
    for (unsigned at = 0; at < slots->held_count; at++)
        if (slots->held[at].pool == pool) full |= UINT64_C(1) << slots->held[at].slot;
    uint32_t found = pool->limit;
    for (uint32_t slot = pool->limit; slot-- > 0;) {
        if (full >> slot & 1) continue;
        if (found == pool->limit || !(pool->read >> slot & 1) || pool->read >> found & 1) found = slot;
    }
    return found;
}

static uint32_t place_of(const subgroup_slots *slots, uint32_t slot)
{
    return subgroup_wide_constant(slots->functions, slot * slots->functions->items);
}

/*
 * Gives slots to what the instruction takes and, as long as there are any, to what later ones take and that is there.
 * True where items may still load from one of them.
 */
static bool choose(subgroup_slots *slots, const uint32_t *from)
{
    const spirv_module *module = slots->functions->edit->module;
    bool is_read = false;
    for (const uint32_t *at = from; !ends_slots(slots->functions, at); at += spirv_length(at)) {
        const uint32_t value = subgroup_taken_value(slots->functions, at);
        if (value == 0 || spirv_definition(module, value) >= from) continue;
        if (find_value(slots, value) < slots->held_count) continue;
        subgroup_pool *pool = subgroup_pool_of(slots->functions, type_of(slots->functions, value));
        const uint32_t slot = pool ? free_slot(slots, pool) : 0;
        if (!pool || slot == pool->limit) continue;
        if (slot >= pool->used) pool->used = slot + 1;
        if (pool->read >> slot & 1) is_read = true;
        slots->held[slots->held_count].value = value;
        slots->held[slots->held_count].pool = pool;
        slots->held[slots->held_count++].slot = slot;
    }
    return is_read;
}

static void store(subgroup_slots *slots, unsigned held)
{
    subgroup_functions *functions = slots->functions;
    const subgroup_pool *pool = slots->held[held].pool;
    const uint32_t function = subgroup_function(functions, &(subgroup_recipe){.text = STORE_TEXT,
                                                                              .result = functions->void_type,
                                                                              .value = pool->type,
                                                                              .parameters = {pool->type,
                                                                                             functions->ulong_type},
                                                                              .parameter_count = 2,
                                                                              .slots = pool->variable});
    const uint32_t call[5] = {functions->void_type, spirv_new_id(functions->edit), function, slots->held[held].value,
                              place_of(slots, slots->held[held].slot)};
    spirv_emit(slots->out, SpvOpFunctionCall, 5, call);
}

static void fill(subgroup_slots *slots, const uint32_t *from)
{
    const unsigned first = slots->held_count;
    if (choose(slots, from)) subgroup_barrier(slots->functions, slots->out);
    for (unsigned at = first; at < slots->held_count; at++) store(slots, at);
    subgroup_barrier(slots->functions, slots->out);
    set_read(slots->functions, 0);
}

uint32_t subgroup_slot_for(subgroup_slots *slots, const uint32_t *instruction)
{
    const uint32_t value = subgroup_taken_value(slots->functions, instruction);
    subgroup_pool *pool = subgroup_pool_of(slots->functions, type_of(slots->functions, value));
    if (!pool) return 0;
    if (find_value(slots, value) == slots->held_count) {
        drop_what_is_over(slots, instruction);
        if (free_slot(slots, pool) == pool->limit) slots->held_count = 0;
        fill(slots, instruction);
    }
    const uint32_t slot = slots->held[find_value(slots, value)].slot;
    pool->read |= UINT64_C(1) << slot;
    return place_of(slots, slot);
}
