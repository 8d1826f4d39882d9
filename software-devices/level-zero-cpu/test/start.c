/* `start FLAGS` prints what zeInit gives twice the same, and the type of the device. */
#include "support.h"

int main(int argc, char **argv)
{
    EXPECT(argc == 2);
    const ze_init_flags_t flags = (ze_init_flags_t)atoi(argv[1]);
    const ze_result_t result = zeInit(flags);
    EXPECT(zeInit(flags) == result);
    printf("0x%x", (unsigned)result);
    if (result == ZE_RESULT_SUCCESS) {
        uint32_t one = 1;
        ze_device_properties_t properties = {.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES};
        OK(zeDriverGet(&one, &driver));
        OK(zeDeviceGet(driver, &one, &device));
        OK(zeDeviceGetProperties(device, &properties));
        printf(properties.type == ZE_DEVICE_TYPE_GPU ? " GPU" : " CPU");
    }
    puts("");
    return 0;
}
