#include "affinity.h"
#include <stdlib.h>
#include <string.h>

/* One entry, "device" or "device.sub-device". True where it names the first device or a sub-device of it. */
static bool read_entry(const char *entry, uint32_t sub_devices, bool *are_seen)
{
    char *end;
    const unsigned long which = strtoul(entry, &end, 10);
    if (end == entry || which != 0) return false;
    if (*end != '.') {
        memset(are_seen, true, sub_devices);
        return true;
    }
    const char *part = end + 1;
    const unsigned long sub_device = strtoul(part, &end, 10);
    if (end == part || sub_device >= sub_devices) return false;
    are_seen[sub_device] = true;
    return true;
}

bool read_affinity_mask(const char *mask, uint32_t sub_devices, bool *are_seen)
{
    const bool sees_all = mask == NULL || *mask == '\0';
    bool sees_any = sees_all;
    memset(are_seen, sees_all, sub_devices);
    if (sees_all) return true;
    for (const char *entry = mask; entry != NULL; entry = strchr(entry, ',')) {
        entry += *entry == ',';
        sees_any = read_entry(entry, sub_devices, are_seen) || sees_any;
    }
    return sees_any;
}
