/* `start FLAGS`: what zeInit gives twice the same, the type of the device, the last uuid bytes of it and its parts. */
#include "support.h"

static ze_device_properties_t properties_of(ze_device_handle_t of)
{
    ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
    OK(zeDeviceGetProperties(of, &properties));
    return properties;
}

static void print_identity(ze_device_handle_t of)
{
    const ze_device_properties_t properties = properties_of(of);
    printf(" %s%d", properties.flags & ZE_DEVICE_PROPERTY_FLAG_SUBDEVICE ? "part-" : "", properties.uuid.id[15]);
}

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    const ze_init_flags_t flags = (ze_init_flags_t)atoi(argv[1]);
    const ze_result_t result = zeInit(flags);
    EXPECT(zeInit(flags) == result);
    printf("0x%x", (unsigned)result);
    if (result == ZE_RESULT_SUCCESS) {
        uint32_t count = 0, parts = 0;
        OK(zeDriverGet(&(uint32_t){1}, &driver));
        OK(zeDeviceGet(driver, &count, NULL));
        if (count > 0) {
            ze_device_handle_t all[16];
            OK(zeDeviceGet(driver, &count, &device));
            printf(properties_of(device).type == ZE_DEVICE_TYPE_GPU ? " GPU" : " CPU");
            print_identity(device);
            OK(zeDeviceGetSubDevices(device, &parts, NULL));
            OK(zeDeviceGetSubDevices(device, &parts, all));
            for (uint32_t i = 0; i < parts; i++) print_identity(all[i]);
        }
    }
    puts("");
    return 0;
}
