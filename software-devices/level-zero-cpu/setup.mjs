// @ts-check
// `setup.mjs` makes the Level Zero driver for the CPU in this checkout's cache. It asks nothing, leaves the system's
// Level Zero drivers alone and does only what is left to do, which is mostly nothing.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runLocked } from '../vulkan/lib/locked.mjs';
import { cache, readyDriver } from './lib/cache.mjs';
import { say } from './lib/needs.mjs';

const script = fileURLToPath(import.meta.url);

/**
 * Makes the driver if it is not ready.
 *
 * @returns {boolean} whether it is ready; a line on stderr says why not
 */
export function setUp() {
  if (readyDriver()) return true;
  if (process.platform !== 'linux') {
    console.error(`level-zero-cpu: not available: this is ${process.platform}; ${elsewhere}`);
    return false;
  }
  runLocked('level-zero-cpu', cache, script);
  return readyDriver() !== undefined;
}

const elsewhere = 'run: docker run --rm -it -v "$PWD:/concord" -w /concord node:22 npm test';

if (process.argv[1] && realpathSync(process.argv[1]) === script) {
  if (process.argv.includes('--locked')) {
    const { makeDriver } = await import('./lib/make.mjs');
    process.exitCode = makeDriver() ? 0 : 1;
  } else {
    process.exitCode = setUp() ? 0 : 1;
    const stamp = readyDriver();
    const use = 'node software-devices/level-zero-cpu/run.mjs <command>';
    if (stamp) say(`the driver is ready: ${stamp.version}; use it: ${use}`);
  }
}
