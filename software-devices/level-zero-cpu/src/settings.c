#include "settings.h"
#include "faults.h"
#include "monitor.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const uint64_t MAX_DEFAULT_BYTES = UINT64_C(8) << 30;

driver_settings settings;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0') return otherwise;
    char *end;
    const unsigned long long value = strtoull(text, &end, 10);
    if (*end == '\0' && strchr(text, '-') == NULL) return value;
    fprintf(stderr, "level-zero-cpu: %s=%s is not a whole number; ignored\n", name, text);
    return otherwise;
}

static void start(void)
{
    char reason[512] = "";
    monitor_start();
    if (number("LEVEL_ZERO_CPU_FAIL_INIT", 0) != 0) return;
    if (!engine_start(&settings.engine, reason, sizeof reason)) {
        fprintf(stderr, "level-zero-cpu: %s\n", reason);
        return;
    }
    const uint64_t half = settings.engine.physical_bytes / 2;
    settings.memory_bytes = number("LEVEL_ZERO_CPU_MEMORY", half < MAX_DEFAULT_BYTES ? half : MAX_DEFAULT_BYTES);
    const uint64_t sub_devices = number("LEVEL_ZERO_CPU_SUB_DEVICES", 0);
    settings.sub_devices = sub_devices < MAX_SUB_DEVICES ? (uint32_t)sub_devices : MAX_SUB_DEVICES;
    lose_after(number("LEVEL_ZERO_CPU_LOSE_AFTER", 0));
    result = ZE_RESULT_SUCCESS;
}

ze_result_t start_driver(void)
{
    pthread_once(&once, start);
    return result;
}
