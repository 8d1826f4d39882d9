// @ts-check
// Where the devices lie, and whether they are whole. Cheap, as every test run asks.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyOf, readStamp } from './stamp.mjs';

/** @typedef {'lavapipe' | 'swiftshader'} Device */

/** @type {readonly Device[]} */
export const devices = ['lavapipe', 'swiftshader'];

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The C sources, which are compiled on this machine. */
export const sources = { shim: path('../vulkan-shim.c'), probe: path('../vulkan-probe.c') };

/** All that set-up downloads and makes is in this folder. */
export const cache = process.env['CONCORD_VULKAN_CACHE'] ?? path('../../../.cache/software-devices/vulkan');

/** The folder of one device: what `LD_LIBRARY_PATH` has to start with. @param {Device} device */
export const folderOf = (device) => join(cache, device);

/** The library that Dawn opens instead of the Vulkan loader. @param {Device} device */
export const shimOf = (device) => join(folderOf(device), 'libvulkan.so.1');

/** Devices are made anew on another system and by other sources. */
export const stampKey = () => keyOf([path('make.mjs'), sources.shim, sources.probe]);

/** The notes of set-up about a device, or undefined where it is missing, damaged, or of another system. @param {Device} device */
export const readyDevice = (device) => readStamp(folderOf(device), stampKey);
