// @ts-check
// `setup.mjs [lavapipe] [swiftshader]` makes Vulkan devices for Dawn in this checkout's cache, both by default.
// It asks nothing, leaves the system's Vulkan alone and does only what is left to do, which is mostly nothing.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { cache, devices, readyDevice } from './lib/cache.mjs';
import { runLocked } from './lib/locked.mjs';
import { say, unsupported } from './lib/system.mjs';

/** @typedef {import('./lib/cache.mjs').Device} Device */

const script = fileURLToPath(import.meta.url);

/**
 * Makes those devices that are not ready.
 *
 * @param {readonly Device[]} [wanted]
 * @returns {Device[]} those that could not be made; lines on stderr say why
 */
export function setUp(wanted = devices) {
  const unready = () => wanted.filter((device) => !readyDevice(device));
  if (unready().length === 0) return [];
  const reason = unsupported();
  if (reason) {
    console.error(
      `vulkan: ${unready().join(', ')} not available: needs packages of Debian or Ubuntu; ${reason}; ${elsewhere()}`,
    );
    return unready();
  }
  runLocked('vulkan', cache, script, wanted);
  return unready();
}

const elsewhere = () =>
  process.platform === 'linux'
    ? 'run: your package manager for lavapipe and the Vulkan loader, which Dawn finds by itself'
    : 'run: docker run --rm -it -v "$PWD:/concord" -w /concord node:22 npm test';

if (process.argv[1] && realpathSync(process.argv[1]) === script) {
  const given = process.argv.slice(2);
  const named = devices.filter((device) => given.includes(device));
  const wanted = named.length > 0 ? named : devices;
  if (given.includes('--locked')) {
    const { makeDevices } = await import('./lib/make.mjs');
    process.exitCode = makeDevices(wanted) ? 0 : 1;
  } else {
    process.exitCode = setUp(wanted).length > 0 ? 1 : 0;
    for (const device of wanted) {
      const stamp = readyDevice(device);
      const use = `node software-devices/vulkan/run.mjs ${device} <command>`;
      if (stamp) say(`${device} is ready: ${stamp.version}; use it: ${use}`);
    }
  }
}
