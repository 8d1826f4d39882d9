/* ZE_AFFINITY_MASK: which devices and sub-devices a process sees, such as "0" or "0.1,0.2". */
#ifndef AFFINITY_H
#define AFFINITY_H

#include "api.h"

/*
 * Reads a mask, NULL or empty for all, as it concerns the first device: marks which of its sub-devices are seen.
 * False where neither the device nor any of them is.
 */
bool read_affinity_mask(const char *mask, uint32_t sub_devices, bool *are_seen);

#endif
