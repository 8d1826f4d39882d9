// @ts-check
// `setup.mjs` makes the Level Zero driver for the CPU in this checkout's cache. It asks nothing, leaves the system's
// Level Zero drivers alone and does only what is left to do, which is mostly nothing.
import { spawnSync } from 'node:child_process';
import { mkdirSync, realpathSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
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
  mkdirSync(cache, { recursive: true });
  const busy = 75;
  if (makeLocked(['--nonblock', '--conflict-exit-code', String(busy)]) === busy) {
    say('another set-up is at work here, waiting for it');
    makeLocked([]);
  }
  return readyDriver() !== undefined;
}

/**
 * Works in a child that holds a lock, which the kernel frees with that process, however it ends.
 *
 * @param {string[]} options
 */
function makeLocked(options) {
  const args = [...options, join(cache, 'lock'), process.execPath, script, '--locked'];
  const { status, error } = spawnSync('flock', args, { stdio: 'inherit' });
  if (error) console.error(`level-zero-cpu: not available: flock: ${error.message}`);
  return status;
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
