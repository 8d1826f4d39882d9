#include "device.h"
#include "affinity.h"
#include "faults.h"
#include "monitor.h"
#include "settings.h"
#include <stdlib.h>

static device *seen; /* the device that the process sees, NULL for none */

static void never(object *device)
{
    (void)device;
}

/* A process that sees one part of the device sees it as a separate device. */
static device *choose(device *whole, const bool *are_seen)
{
    for (uint32_t i = 0; i < settings.sub_devices; i++)
        if (are_seen[i]) whole->parts[whole->part_count++] = &whole[i + 1];
    const bool is_one_of_many = whole->part_count == 1 && settings.sub_devices > 1;
    device *chosen = is_one_of_many ? whole->parts[0] : whole;
    for (uint32_t i = 0; chosen == whole && i < whole->part_count; i++) whole->parts[i]->is_sub_device = true;
    return chosen;
}

bool open_devices(void)
{
    const uint32_t parts = settings.sub_devices;
    device *all = calloc(parts + 1, sizeof *all);
    bool *are_seen = calloc(parts + 1, sizeof *are_seen);
    bool is_open = all != NULL && are_seen != NULL;
    if (is_open) is_open = (all->parts = calloc(parts + 1, sizeof *all->parts)) != NULL;
    for (uint32_t i = 0; is_open && i <= parts; i++) {
        all[i].number = i;
        is_open = object_open(&all[i].base, KIND_DEVICE, never);
    }
    if (is_open && read_affinity_mask(getenv("ZE_AFFINITY_MASK"), parts, are_seen)) seen = choose(all, are_seen);
    free(are_seen);
    return is_open;
}

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount, ze_device_handle_t *phDevices)
{
    HOLD(object, driver, hDriver, KIND_DRIVER);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, seen != NULL ? 1 : 0, phDevices) > 0) phDevices[0] = HANDLE_OF(ze_device_handle_t, seen);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount, ze_device_handle_t *phSubdevices)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint32_t written = items_to_write(pCount, of->part_count, phSubdevices);
    for (uint32_t i = 0; i < written; i++) phSubdevices[i] = HANDLE_OF(ze_device_handle_t, of->parts[i]);
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetStatus(ze_device_handle_t hDevice)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    return device_is_lost() ? ZE_RESULT_ERROR_DEVICE_LOST : ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetGlobalTimestamps(ze_device_handle_t hDevice, uint64_t *hostTimestamp, uint64_t *deviceTimestamp)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (hostTimestamp == NULL || deviceTimestamp == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (device_is_lost()) return ZE_RESULT_ERROR_DEVICE_LOST;
    *hostTimestamp = *deviceTimestamp = now_ns();
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceCanAccessPeer(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice, ze_bool_t *value)
{
    HOLD(device, one, hDevice, KIND_DEVICE);
    HOLD(device, other, hPeerDevice, KIND_DEVICE);
    if (value == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    *value = 1;
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetP2PProperties(ze_device_handle_t hDevice, ze_device_handle_t hPeerDevice,
                                     ze_device_p2p_properties_t *pP2PProperties)
{
    HOLD(device, one, hDevice, KIND_DEVICE);
    HOLD(device, other, hPeerDevice, KIND_DEVICE);
    if (pP2PProperties == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    pP2PProperties->flags = ZE_DEVICE_P2P_PROPERTY_FLAG_ACCESS | ZE_DEVICE_P2P_PROPERTY_FLAG_ATOMICS;
    return ZE_RESULT_SUCCESS;
}
