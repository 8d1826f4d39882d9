// A libvulkan.so.1 instead of the Vulkan loader: it hands every call to the one driver in lib/ beside it, so a program
// that opens libvulkan.so.1 (Dawn does) gets this device whatever else the machine has. No search, no layers.
//
// For lavapipe it also corrects some answers, each for a reason given where it is done: two features without which Dawn
// refuses the device, the size of a storage buffer binding, and how many buffers may have dynamic offsets.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vulkan/vk_icd.h>
#include <vulkan/vulkan_core.h>

// Lavapipe states 128 MiB, Vulkan's minimum, though its shaders reach further: 2 GiB was right when it was
// tried, and a test writes the last words of a binding of this size.
#define LAVAPIPE_BINDING 0x40000000u

// All that Dawn uses of them; where a driver has more, Dawn says on stderr, each time, that it makes no use of the rest.
#define DAWN_DYNAMIC_BUFFERS 16u

#define EXPORT __attribute__((visibility("default")))

// The newest driver interface the functions below know how to talk to. From 5 on a driver takes any apiVersion.
#define INTERFACE_VERSION 5u

// The driver's own functions. The pointers do not depend on the instance: there is one driver, and it is no loader.
static PFN_vkGetInstanceProcAddr driver_proc;
static PFN_vkCreateDevice driver_create_device;
static PFN_vkGetPhysicalDeviceFeatures driver_features;
static PFN_vkGetPhysicalDeviceFeatures2 driver_features2;
static PFN_vkGetPhysicalDeviceProperties driver_properties;
static PFN_vkGetPhysicalDeviceProperties2 driver_properties2;

static void load_driver(void) {
  // Here rather than in JavaScript: what a worker thread of Node sets in process.env does not reach C.
  Dl_info self;
  if (dladdr((void *)load_driver, &self) && strrchr(self.dli_fname, '/')) {
    char cache[4096];
    int folder = (int)(strrchr(self.dli_fname, '/') - self.dli_fname);
    snprintf(cache, sizeof cache, "%.*s/shaders", folder, self.dli_fname);
    setenv("MESA_SHADER_CACHE_DIR", cache, false);
  }

  // The device's own driver is linked, so it is loaded by now and its name alone finds it.
  const char *given = getenv("CONCORD_VULKAN_DRIVER");
  const char *path = given && *given ? given : DRIVER;
  void *driver = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!driver) {
    fprintf(stderr, "concord: the Vulkan driver does not load: %s\n", dlerror());
    return;
  }
  // Must come before any other call; the driver lowers the number to what it knows. One without it speaks version 1.
  PFN_vkNegotiateLoaderICDInterfaceVersion negotiate =
      (PFN_vkNegotiateLoaderICDInterfaceVersion)dlsym(driver, "vk_icdNegotiateLoaderICDInterfaceVersion");
  uint32_t version = INTERFACE_VERSION;
  if (negotiate && negotiate(&version) != VK_SUCCESS) {
    fprintf(stderr, "concord: the Vulkan driver %s refuses driver interface %u\n", path, INTERFACE_VERSION);
    return;
  }
  driver_proc = (PFN_vkGetInstanceProcAddr)dlsym(driver, "vk_icdGetInstanceProcAddr");
  if (!driver_proc) driver_proc = (PFN_vkGetInstanceProcAddr)dlsym(driver, "vkGetInstanceProcAddr");
  if (!driver_proc) fprintf(stderr, "concord: %s is no Vulkan driver\n", path);
}

static PFN_vkVoidFunction driver_function(VkInstance instance, const char *name) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load_driver);
  return driver_proc ? driver_proc(instance, name) : NULL;
}

// Lavapipe 22.3 says no to indexing arrays of textures dynamically and Dawn then refuses it, although a compute shader
// without such arrays, and WebGPU has none, never uses it. So: yes when asked, and no longer wanted in vkCreateDevice.
static void claim(VkPhysicalDeviceFeatures *features) {
  features->shaderSampledImageArrayDynamicIndexing = VK_TRUE;
  features->shaderStorageImageArrayDynamicIndexing = VK_TRUE;
}

static void unclaim(VkPhysicalDeviceFeatures *features, const VkPhysicalDeviceFeatures *real) {
  features->shaderSampledImageArrayDynamicIndexing &= real->shaderSampledImageArrayDynamicIndexing;
  features->shaderStorageImageArrayDynamicIndexing &= real->shaderStorageImageArrayDynamicIndexing;
}

static VKAPI_ATTR void VKAPI_CALL get_features(VkPhysicalDevice device, VkPhysicalDeviceFeatures *features) {
  driver_features(device, features);
  claim(features);
}

static VKAPI_ATTR void VKAPI_CALL get_features2(VkPhysicalDevice device, VkPhysicalDeviceFeatures2 *features) {
  driver_features2(device, features);
  claim(&features->features);
}

static VKAPI_ATTR VkResult VKAPI_CALL create_device(VkPhysicalDevice device, const VkDeviceCreateInfo *given,
                                                    const VkAllocationCallbacks *allocator, VkDevice *created) {
  VkPhysicalDeviceFeatures real, enabled;
  VkDeviceCreateInfo info = *given;
  driver_features(device, &real);
  if (info.pEnabledFeatures) {
    enabled = *info.pEnabledFeatures;
    unclaim(&enabled, &real);
    info.pEnabledFeatures = &enabled;
  }
  // A chain cannot be copied, as its structures are of unknown size: change this one for the call and put it back.
  VkPhysicalDeviceFeatures2 *chained = (VkPhysicalDeviceFeatures2 *)info.pNext;
  while (chained && chained->sType != VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_FEATURES_2) chained = chained->pNext;
  VkPhysicalDeviceFeatures before;
  if (chained) {
    before = chained->features;
    unclaim(&chained->features, &real);
  }
  VkResult result = driver_create_device(device, &info, allocator, created);
  if (chained) chained->features = before;
  return result;
}

static void correct(VkPhysicalDeviceProperties *properties) {
  if (strncmp(properties->deviceName, "llvmpipe", 8) != 0) return;
  VkPhysicalDeviceLimits *limits = &properties->limits;
  if (limits->maxStorageBufferRange < LAVAPIPE_BINDING) limits->maxStorageBufferRange = LAVAPIPE_BINDING;
  limits->maxDescriptorSetUniformBuffersDynamic = DAWN_DYNAMIC_BUFFERS;
  limits->maxDescriptorSetStorageBuffersDynamic = DAWN_DYNAMIC_BUFFERS;
}

static VKAPI_ATTR void VKAPI_CALL get_properties(VkPhysicalDevice device, VkPhysicalDeviceProperties *properties) {
  driver_properties(device, properties);
  correct(properties);
}

static VKAPI_ATTR void VKAPI_CALL get_properties2(VkPhysicalDevice device, VkPhysicalDeviceProperties2 *properties) {
  driver_properties2(device, properties);
  correct(&properties->properties);
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *layers);

EXPORT VKAPI_ATTR PFN_vkVoidFunction VKAPI_CALL vkGetInstanceProcAddr(VkInstance instance, const char *name) {
  if (strcmp(name, "vkGetInstanceProcAddr") == 0) return (PFN_vkVoidFunction)vkGetInstanceProcAddr;
  // A driver has none, and wgpu, which asks by this name, takes a missing one for no Vulkan at all.
  if (strcmp(name, "vkEnumerateInstanceLayerProperties") == 0)
    return (PFN_vkVoidFunction)vkEnumerateInstanceLayerProperties;
  PFN_vkVoidFunction found = driver_function(instance, name);
  if (!found) return NULL;
#define INSTEAD(vulkan_name, saved, own) \
  if (strcmp(name, vulkan_name) == 0) { saved = (__typeof__(saved))found; return (PFN_vkVoidFunction)own; }
  INSTEAD("vkGetPhysicalDeviceFeatures", driver_features, get_features)
  INSTEAD("vkGetPhysicalDeviceFeatures2", driver_features2, get_features2)
  INSTEAD("vkGetPhysicalDeviceFeatures2KHR", driver_features2, get_features2)
  INSTEAD("vkGetPhysicalDeviceProperties", driver_properties, get_properties)
  INSTEAD("vkGetPhysicalDeviceProperties2", driver_properties2, get_properties2)
  INSTEAD("vkGetPhysicalDeviceProperties2KHR", driver_properties2, get_properties2)
  if (strcmp(name, "vkCreateDevice") == 0)
    driver_features = (PFN_vkGetPhysicalDeviceFeatures)driver_function(instance, "vkGetPhysicalDeviceFeatures");
  INSTEAD("vkCreateDevice", driver_create_device, create_device)
  return found;
}

// The functions that exist before there is an instance are also looked up by symbol.
#define GLOBAL(name) ((PFN_##name)driver_function(NULL, #name))

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkCreateInstance(const VkInstanceCreateInfo *info,
                                                       const VkAllocationCallbacks *allocator, VkInstance *created) {
  PFN_vkCreateInstance create = GLOBAL(vkCreateInstance);
  return create ? create(info, allocator, created) : VK_ERROR_INCOMPATIBLE_DRIVER;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceVersion(uint32_t *version) {
  PFN_vkEnumerateInstanceVersion enumerate = GLOBAL(vkEnumerateInstanceVersion);
  *version = VK_API_VERSION_1_0;
  return enumerate ? enumerate(version) : VK_SUCCESS;
}

EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceExtensionProperties(const char *layer, uint32_t *count,
                                                                             VkExtensionProperties *properties) {
  PFN_vkEnumerateInstanceExtensionProperties enumerate = GLOBAL(vkEnumerateInstanceExtensionProperties);
  return enumerate ? enumerate(layer, count, properties) : VK_ERROR_INCOMPATIBLE_DRIVER;
}

// Layers are the loader's business.
EXPORT VKAPI_ATTR VkResult VKAPI_CALL vkEnumerateInstanceLayerProperties(uint32_t *count, VkLayerProperties *layers) {
  (void)layers;
  *count = 0;
  return VK_SUCCESS;
}
