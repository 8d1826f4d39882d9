import { readyDevice } from '../../../../software-devices/vulkan/lib/cache.mjs';
import { type Device, preloadVulkan } from '../../../../software-devices/vulkan/preload.mjs';

// Every test file runs in its own process, which has this device instead of the system's Vulkan. On a machine with
// a GPU, CONCORD_SOFTWARE_VULKAN=none runs the tests on that; where set-up could not make the device, so do they.
const device = process.env['CONCORD_SOFTWARE_VULKAN'] ?? 'lavapipe';
if (device !== 'none' && readyDevice(device as Device)) preloadVulkan(device as Device);
