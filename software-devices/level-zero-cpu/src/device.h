/* The device and its sub-devices, which last as long as the process. */
#ifndef DEVICE_H
#define DEVICE_H

#include "handles.h"

typedef struct device {
    object base;
    bool is_sub_device;
    uint32_t number;       /* 0 for the whole device, 1 and up for its parts */
    struct device **parts; /* that the process sees */
    uint32_t part_count;
} device;

/* Makes the device and its sub-devices. False where memory is short. */
bool open_devices(void);

/* Limits that properties report and calls check. */
enum { TIMESTAMP_BITS = 64, MAX_FILL_PATTERN_BYTES = 128 };

#endif
