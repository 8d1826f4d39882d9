// @ts-check
import { existsSync, readFileSync, realpathSync } from 'node:fs';
import { constants } from 'node:os';
import { readyDevice, shimOf } from './lib/cache.mjs';

/** @typedef {import('./lib/cache.mjs').Device} Device */

/**
 * Makes this very process's Dawn use a software device, as `LD_LIBRARY_PATH` would have done before it started. Call it
 * before the first `requestAdapter`; again, or in another thread of the process, it does nothing.
 *
 * @param {Device} device
 * @returns {string} what the device is, for people
 * @throws {Error} where the device is not set up, or the process already uses another Vulkan
 */
export function preloadVulkan(device) {
  const stamp = readyDevice(device);
  if (!stamp) throw new Error(`${device} is not set up; run: node software-devices/vulkan/setup.mjs ${device}`);
  const shim = realpathSync(shimOf(device));
  if (loadedVulkan() === undefined) loadLibrary(shim);
  // The first one that is loaded answers to the name, so a second could not take over.
  const loaded = loadedVulkan();
  if (loaded !== shim) throw new Error(`${device} cannot be used: this process has loaded ${loaded ?? 'no Vulkan'}`);
  return stamp.version;
}

/** The libvulkan.so.1 that this process has loaded, in whichever thread. */
function loadedVulkan() {
  if (!existsSync('/proc/self/maps')) return undefined;
  // Set-up may have replaced the file since: it is then marked "(deleted)" and works on.
  return / (\/.*\/libvulkan\.so\.1[^/ ]*)( \(deleted\))?$/m.exec(readFileSync('/proc/self/maps', 'utf8'))?.[1];
}

/**
 * Loads a library that is no Node addon: Node then says so and drops it, but it was linked to stay, and the system's
 * loader gives what is loaded to everyone who asks for its SONAME, as Dawn does with `libvulkan.so.1`.
 *
 * @param {string} file
 */
function loadLibrary(file) {
  try {
    process.dlopen({ exports: {} }, file, constants.dlopen.RTLD_NOW);
  } catch (error) {
    if (!String(error).includes('did not self-register')) throw error;
  }
}
