// @ts-check
// Where the devices lie, and whether they are whole. Cheap, as every test run asks.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** @typedef {'lavapipe' | 'swiftshader'} Device */
/**
 * @typedef {object} Stamp what set-up notes in a finished device folder
 * @property {string} key what it was made for and from, see {@link stampKey}
 * @property {string} version of the driver, for people
 * @property {Record<string, number>} files bytes of each file, by its path in the folder
 * @property {string[]} system paths of the system's libraries that the driver needs
 */

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
export function stampKey() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of ['/etc/os-release', path('make.mjs'), sources.shim, sources.probe])
    if (existsSync(file)) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * The notes of set-up about a device, or undefined where the device is missing, damaged, or of another system.
 *
 * @param {Device} device
 * @returns {Stamp | undefined}
 */
export function readyDevice(device) {
  try {
    /** @type {Stamp} */
    const stamp = JSON.parse(readFileSync(join(folderOf(device), 'ready.json'), 'utf8'));
    const whole = Object.entries(stamp.files).every(
      ([file, size]) => statSync(join(folderOf(device), file)).size === size,
    );
    return whole && stamp.system.every((file) => existsSync(file)) && stamp.key === stampKey() ? stamp : undefined;
  } catch {
    // A file is missing, or the note is cut off: not ready.
    return undefined;
  }
}
