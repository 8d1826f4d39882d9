/* Copies and fills of memory. */
#ifndef COPIES_H
#define COPIES_H

#include "command.h"

/* Bytes from the first to the last one that a box reaches, 0 for an empty one, SIZE_MAX where that is beyond memory. */
size_t box_bytes(const box *box, size_t width, size_t height, size_t depth);

/* True if two boxes of one size have a byte in common. Pitches are at least as long as what they step over. */
bool boxes_overlap(const box *one, const box *other, size_t width, size_t height, size_t depth);

/* Copies a box to another. */
void copy_boxes(const box *to, const box *from, size_t width, size_t height, size_t depth);

/* Repeats a pattern, cut off at the end. */
void fill(char *to, const char *pattern, size_t pattern_bytes, size_t bytes);

#endif
