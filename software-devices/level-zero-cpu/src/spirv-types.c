#include "spirv-types.h"

/* No structure or array of an honest module comes near, and the arithmetic below stays far from overflow. */
static const uint64_t MAX_TYPE_BYTES = UINT64_C(1) << 40;
enum { MAX_TYPE_DEPTH = 200 };

bool spirv_decorated(const spirv_module *module, uint32_t id, SpvDecoration decoration)
{
    const uint32_t *end = spirv_end(module);
    for (const uint32_t *at = spirv_first(module); at < end; at += spirv_length(at)) {
        if (spirv_opcode(at) == SpvOpFunction) break;
        if (spirv_opcode(at) == SpvOpDecorate && at[1] == id && at[2] == (uint32_t)decoration) return true;
    }
    return false;
}

static spirv_layout layout_at_depth(const spirv_module *module, uint32_t type, unsigned depth);

static spirv_layout layout_of_struct(const spirv_module *module, const uint32_t *type, unsigned depth)
{
    spirv_layout whole = {0, 1};
    bool packed = spirv_decorated(module, type[1], SpvDecorationCPacked);
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
