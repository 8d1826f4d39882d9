/* The device and its sub-devices, which last as long as the process. */
#ifndef DEVICE_H
#define DEVICE_H

#include "handles.h"

typedef struct {
    object base;
    uint32_t number; /* 0 for the whole device, 1 and up for its sub-devices */
} device;

/* Makes the device and its sub-devices. ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY. */
ze_result_t open_devices(void);

/* What properties report and calls check. */
enum { MAX_FILL_PATTERN_BYTES = 128 };

#endif
