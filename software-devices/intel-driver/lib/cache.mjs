// @ts-check
// Where Intel's driver lies, and whether it is whole. Cheap, as every test run asks.
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { keyOf, readStamp } from '../../vulkan/lib/stamp.mjs';

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

/** All that set-up downloads and unpacks is in this folder. */
export const cache = process.env['CONCORD_INTEL_DRIVER_CACHE'] ?? path('../../../.cache/software-devices/intel-driver');

/** The unpacked packages. */
export const folder = join(cache, 'driver');

/** Where libraries lie in a folder of unpacked packages, as `LD_LIBRARY_PATH` has to have them. */
export const librariesIn = (/** @type {string} */ unpacked) =>
  ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((libraries) => join(unpacked, libraries)).join(':');

/** The driver in a folder of unpacked packages: what `ZE_ENABLE_ALT_DRIVERS` has to name. */
export const driverIn = (/** @type {string} */ unpacked) =>
  join(unpacked, 'usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1');

/** Its compiler, which the driver loads by name. */
export const compilerIn = (/** @type {string} */ unpacked) => join(unpacked, 'usr/lib/x86_64-linux-gnu/libigc.so.1');

/** The driver is fetched anew on another system and by another version of set-up. */
export const stampKey = () => keyOf([path('make.mjs')]);

/**
 * The notes of set-up about the driver, or undefined where it is missing, damaged, or of another system. Its version is that
 * of driver and compiler, and names what they compile differently.
 */
export const readyDriver = () => readStamp(folder, stampKey);
