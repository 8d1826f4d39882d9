/* The settings of the driver: from the environment and from the engine. */
#ifndef SETTINGS_H
#define SETTINGS_H

#include "api.h"
#include "engine.h"

enum { MAX_SUB_DEVICES = 16 };

typedef struct {
    engine_info engine;
    uint64_t memory_bytes; /* of the device; host allocations are bounded by the machine's */
    uint32_t sub_devices;
} driver_settings;

/* Valid after `start_driver` succeeded. */
extern driver_settings settings;

/* Reads the environment and starts the engine, once per process; the first result stays. */
ze_result_t start_driver(void);

#endif
