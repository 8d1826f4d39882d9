// @ts-check
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { folderOf, readyDevice } from '../../software-devices/vulkan/lib/cache.mjs';
import { setUp } from '../../software-devices/vulkan/setup.mjs';

/** Where a loader lies that the system has installed. */
const LOADERS = ['/usr/lib', '/usr/lib64', '/usr/lib/x86_64-linux-gnu', '/usr/lib/aarch64-linux-gnu', '/usr/local/lib'];

/**
 * What to add to a program's environment so that Dawn finds a software device, on a machine that has no Vulkan of its
 * own. Nothing, where the machine has one or the device is not there.
 *
 * @param {{ isWanted: boolean }} options - `isWanted`: make the device if need be
 * @returns {Record<string, string>}
 */
export function softwareVulkan({ isWanted }) {
  if (LOADERS.some((folder) => existsSync(join(folder, 'libvulkan.so.1')))) return {};
  if (isWanted) setUp(['lavapipe']);
  if (readyDevice('lavapipe') === undefined) return {};
  const given = process.env['LD_LIBRARY_PATH'];
  return { LD_LIBRARY_PATH: folderOf('lavapipe') + (given ? delimiter + given : '') };
}
