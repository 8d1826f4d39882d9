#include "device.h"
#include "faults.h"
#include "monitor.h"
#include "settings.h"
#include <stdlib.h>

static device *devices; /* the whole one, then its parts */

static void never(object *device)
{
    (void)device;
}

bool open_devices(void)
{
    devices = calloc(settings.sub_devices + 1, sizeof *devices);
    if (devices == NULL) return false;
    for (uint32_t i = 0; i <= settings.sub_devices; i++) {
        devices[i].is_sub_device = i > 0;
        devices[i].sub_device = i > 0 ? i - 1 : 0;
        if (!object_open(&devices[i].base, KIND_DEVICE, never)) return false;
    }
    return true;
}

device *root_device(void)
{
    return &devices[0];
}

ze_result_t zeDeviceGet(ze_driver_handle_t hDriver, uint32_t *pCount, ze_device_handle_t *phDevices)
{
    HOLD(object, driver, hDriver, KIND_DRIVER);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    if (items_to_write(pCount, 1, phDevices) > 0) phDevices[0] = HANDLE_OF(ze_device_handle_t, root_device());
    return ZE_RESULT_SUCCESS;
}

ze_result_t zeDeviceGetSubDevices(ze_device_handle_t hDevice, uint32_t *pCount, ze_device_handle_t *phSubdevices)
{
    HOLD(device, of, hDevice, KIND_DEVICE);
    if (pCount == NULL) return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
    const uint32_t parts = of->is_sub_device ? 0 : settings.sub_devices;
    const uint32_t written = items_to_write(pCount, parts, phSubdevices);
    for (uint32_t i = 0; i < written; i++) phSubdevices[i] = HANDLE_OF(ze_device_handle_t, &devices[i + 1]);
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
