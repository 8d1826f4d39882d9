/* Damages modules, in the same way for the same seed. */
#ifndef ENGINE_MUTATE_H
#define ENGINE_MUTATE_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t next_random(uint64_t *state)
{
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    return *state >> 33;
}

/* Flips, copies, swaps or changes up to three words, or cuts the module off. How many words are left. */
static inline size_t mutate(uint32_t *words, size_t count, uint64_t *state)
{
    for (uint64_t left = 1 + next_random(state) % 3; left > 0; left--) {
        size_t at = next_random(state) % count, other = next_random(state) % count;
        uint32_t kept = words[at];
        switch (next_random(state) % 6) {
        case 0: words[at] ^= 1u << next_random(state) % 32; break;
        case 1: words[at] = words[other]; break;
        case 2: words[at] = words[other], words[other] = kept; break;
        case 3: words[at] += next_random(state) % 5 - 2; break;
        case 4: words[at] = (uint32_t)(next_random(state) % 64); break;
        default:
            if (next_random(state) % 8 == 0) return at;
            break;
        }
    }
    return count;
}

#endif
