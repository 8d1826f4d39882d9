// @ts-check
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { driver, readyDriver } from '../../software-devices/level-zero-cpu/lib/cache.mjs';
import { setUp as setUpLevelZero } from '../../software-devices/level-zero-cpu/setup.mjs';
import { folderOf, readyDevice } from '../../software-devices/vulkan/lib/cache.mjs';
import { setUp as setUpVulkan } from '../../software-devices/vulkan/setup.mjs';
import { root } from './paths.mjs';

/** Folders in which a system installs a loader. */
const LOADERS = ['/usr/lib', '/usr/lib64', '/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/local/lib'];

const hasSystemLoader = () => LOADERS.some((folder) => existsSync(join(folder, 'libvulkan.so.1')));

/** Returns whether the system's WebGPU works: a loader may be there without a driver, or with one that Dawn refuses. */
function systemWorks() {
  const env = { ...process.env, CONCORD_BACKEND: 'webgpu', CONCORD_VARIANT: '' };
  const command = [join(root, 'packages/cli/bin/concord.js'), 'devices', '--json'];
  return spawnSync(process.execPath, command, { env, stdio: 'ignore' }).status === 0;
}

/**
 * The additions to a program's environment so that Dawn finds a software device, on a machine that has no Vulkan of its
 * own, or one that does not work. Nothing, where the machine's works or the device is not there.
 *
 * @param {object} options
 * @param {boolean} options.isWanted the program will use WebGPU: try the machine's, and make the software device if it does not work
 * @param {() => boolean} [options.hasLoader] whether the system has a Vulkan loader
 * @param {() => boolean} [options.works] whether WebGPU works with it
 * @returns {Record<string, string>}
 */
export function softwareVulkan({ isWanted, hasLoader = hasSystemLoader, works = systemWorks }) {
  if (hasLoader() && (!isWanted || works())) return {};
  if (isWanted) setUpVulkan(['lavapipe']);
  if (readyDevice('lavapipe') === undefined) return {};
  const given = process.env['LD_LIBRARY_PATH'];
  return { LD_LIBRARY_PATH: folderOf('lavapipe') + (given ? delimiter + given : '') };
}

/**
 * The additions to a program's environment so that Level Zero finds the CPU driver. Nothing, where the driver is not there.
 * An environment that names its own driver is left alone.
 *
 * @param {{ isWanted: boolean }} options - `isWanted`: the program will use Level Zero; build the driver if need be
 * @returns {Record<string, string>}
 */
export function softwareLevelZero({ isWanted }) {
  if (!isWanted || process.env['ZE_ENABLE_ALT_DRIVERS']) return {};
  setUpLevelZero();
  return readyDriver() === undefined ? {} : { ZE_ENABLE_ALT_DRIVERS: driver };
}
