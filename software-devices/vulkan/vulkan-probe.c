// `vulkan-probe libvulkan.so.1` opens that library as Dawn does, makes a device with every feature that is claimed and
// prints what it is: name, version of the driver, version of Vulkan. Else exit code 1, and the reason on stderr.
#include <dlfcn.h>
#include <stdio.h>
#include <vulkan/vulkan_core.h>

static int fail(const char *what) {
  fprintf(stderr, "%s\n", what);
  return 1;
}

int main(int count, char **arguments) {
  if (count != 2) return fail("usage: vulkan-probe libvulkan.so.1");
  void *library = dlopen(arguments[1], RTLD_NOW | RTLD_LOCAL);
  if (!library) return fail(dlerror());
  PFN_vkGetInstanceProcAddr proc = (PFN_vkGetInstanceProcAddr)dlsym(library, "vkGetInstanceProcAddr");
  if (!proc) return fail("no vkGetInstanceProcAddr");
  PFN_vkCreateInstance create = (PFN_vkCreateInstance)proc(NULL, "vkCreateInstance");
  if (!create) return fail("no vkCreateInstance");

  VkApplicationInfo application = {.sType = VK_STRUCTURE_TYPE_APPLICATION_INFO, .apiVersion = VK_API_VERSION_1_1};
  VkInstanceCreateInfo info = {.sType = VK_STRUCTURE_TYPE_INSTANCE_CREATE_INFO, .pApplicationInfo = &application};
  VkInstance instance;
  if (create(&info, NULL, &instance) != VK_SUCCESS) return fail("vkCreateInstance failed");

  VkPhysicalDevice device;
  uint32_t devices = 1;
  ((PFN_vkEnumeratePhysicalDevices)proc(instance, "vkEnumeratePhysicalDevices"))(instance, &devices, &device);
  if (devices == 0) return fail("the driver has no device");

  VkPhysicalDeviceFeatures features;
  ((PFN_vkGetPhysicalDeviceFeatures)proc(instance, "vkGetPhysicalDeviceFeatures"))(device, &features);
  float priority = 1;
  VkDeviceQueueCreateInfo queue = {
      .sType = VK_STRUCTURE_TYPE_DEVICE_QUEUE_CREATE_INFO, .queueCount = 1, .pQueuePriorities = &priority};
  VkDeviceCreateInfo request = {.sType = VK_STRUCTURE_TYPE_DEVICE_CREATE_INFO,
                                .queueCreateInfoCount = 1,
                                .pQueueCreateInfos = &queue,
                                .pEnabledFeatures = &features};
  VkDevice logical;
  VkResult result = ((PFN_vkCreateDevice)proc(instance, "vkCreateDevice"))(device, &request, NULL, &logical);
  if (result == VK_ERROR_FEATURE_NOT_PRESENT) return fail("vkCreateDevice refuses features that the driver claims");
  if (result != VK_SUCCESS) return fail("vkCreateDevice failed");
  ((PFN_vkDestroyDevice)proc(instance, "vkDestroyDevice"))(logical, NULL);

  VkPhysicalDeviceDriverProperties driver = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_DRIVER_PROPERTIES};
  VkPhysicalDeviceProperties2 properties = {.sType = VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_PROPERTIES_2, .pNext = &driver};
  ((PFN_vkGetPhysicalDeviceProperties2)proc(instance, "vkGetPhysicalDeviceProperties2"))(device, &properties);
  uint32_t version = properties.properties.apiVersion;
  const char *comma = driver.driverInfo[0] ? ", " : "";
  printf("%s, %s%sVulkan %u.%u\n", properties.properties.deviceName, driver.driverInfo, comma,
         VK_API_VERSION_MAJOR(version), VK_API_VERSION_MINOR(version));
  ((PFN_vkDestroyInstance)proc(instance, "vkDestroyInstance"))(instance, NULL);
  return 0;
}
