/* The device and its sub-devices, which last as long as the process. */
#ifndef DEVICE_H
#define DEVICE_H

#include "handles.h"

typedef struct {
    object base;
    bool is_sub_device;
    uint32_t sub_device; /* its number */
} device;

/* Makes the device and its sub-devices. False where memory is short. */
bool open_devices(void);

/* The whole device. */
device *root_device(void);

/* Limits that properties report and calls check. */
enum { TIMESTAMP_BITS = 64, MOST_FILL_PATTERN_BYTES = 128 };

#endif
