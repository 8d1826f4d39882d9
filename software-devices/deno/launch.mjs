// @ts-check
// How a program is started in Deno on a Vulkan device of software-devices/vulkan.
import { delimiter } from 'node:path';
import { fileURLToPath } from 'node:url';
import { folderOf, readyDevice } from '../vulkan/lib/cache.mjs';

/** @typedef {import('../vulkan/lib/cache.mjs').Device} Device */

/**
 * The environment of a Deno that uses a software device, or, where that is not set up, what the machine has.
 *
 * @param {Device | 'none'} device
 * @returns {Record<string, string | undefined>}
 */
export function denoEnvironment(device) {
  const quiet = {
    DENO_DIR: fileURLToPath(new URL('../../.cache/programs/deno-dir', import.meta.url)),
    DENO_NO_UPDATE_CHECK: '1',
  };
  if (device === 'none' || !readyDevice(device)) return { ...process.env, ...quiet };
  const given = process.env['LD_LIBRARY_PATH'];
  const path = folderOf(device) + (given ? delimiter + given : '');
  // wgpu would take OpenGL too, which the shim does not stand in front of.
  return { ...process.env, ...quiet, LD_LIBRARY_PATH: path, DENO_WEBGPU_BACKEND: 'vulkan' };
}

/** Arguments in front of a program: it may do what a program in Node may, and fetches nothing. */
export const DENO_ARGUMENTS = ['run', '--allow-all', '--no-prompt', '--no-remote', '--unstable-webgpu'];
