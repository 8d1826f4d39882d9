#include "copies.h"

static char *row(const box *of, size_t y, size_t z)
{
    return of->memory.address + of->offset + z * of->slice_pitch + y * of->row_pitch;
}

size_t box_bytes(const box *of, size_t width, size_t height, size_t depth)
{
    if (width == 0 || height == 0 || depth == 0) return 0;
    size_t rows, slices, bytes;
    if (__builtin_mul_overflow(of->row_pitch, height - 1, &rows) ||
        __builtin_mul_overflow(of->slice_pitch, depth - 1, &slices) || __builtin_add_overflow(rows, slices, &bytes) ||
        __builtin_add_overflow(bytes, width, &bytes) || __builtin_add_overflow(bytes, of->offset, &bytes))
        return SIZE_MAX;
    return bytes;
}

bool boxes_overlap(const box *one, const box *other, size_t width, size_t height, size_t depth)
{
    const size_t one_bytes = box_bytes(one, width, height, depth), other_bytes = box_bytes(other, width, height, depth);
    if (one_bytes == 0 || one->memory.address + one_bytes <= row(other, 0, 0) ||
        other->memory.address + other_bytes <= row(one, 0, 0))
        return false;
    /* Rows of both ascend, so one walk along them side by side finds two that meet. */
    const size_t rows = height * depth;
    for (size_t i = 0, j = 0; i < rows && j < rows;) {
        const char *left = row(one, i % height, i / height), *right = row(other, j % height, j / height);
        if (left + width <= right) i++;
        else if (right + width <= left) j++;
        else return true;
    }
    return false;
}

void copy_boxes(const box *to, const box *from, size_t width, size_t height, size_t depth)
{
    for (size_t z = 0; z < depth; z++)
        for (size_t y = 0; y < height; y++) memcpy(row(to, y, z), row(from, y, z), width);
}

void fill(char *to, const char *pattern, size_t pattern_bytes, size_t bytes)
{
    enum { BLOCK = 1 << 16 };
    bool is_one_byte = true;
    for (size_t i = 1; i < pattern_bytes; i++) is_one_byte = is_one_byte && pattern[i] == pattern[0];
    if (is_one_byte) {
        memset(to, pattern[0], bytes);
        return;
    }
    size_t filled = pattern_bytes < bytes ? pattern_bytes : bytes;
    memcpy(to, pattern, filled);
    /* Doubles up to a block that stays in the cache; from there on it repeats that block. */
    while (filled < bytes) {
        const size_t source = filled < BLOCK ? filled : BLOCK;
        const size_t step = source < bytes - filled ? source : bytes - filled;
        memcpy(to + filled, to, step);
        filled += step;
    }
}
