// @ts-check
// `setup.mjs` unpacks Intel's Level Zero driver and compiler into this checkout's cache. It asks nothing, installs
// nothing and does only what is left to do, which is mostly nothing.
import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { runLocked } from '../vulkan/lib/locked.mjs';
import { cache, readyDriver } from './lib/cache.mjs';
import { makeDriver, say, unobtainable } from './lib/make.mjs';

const script = fileURLToPath(import.meta.url);

/**
 * Unpacks the driver if it is not ready.
 *
 * @returns {boolean} whether it is ready; a line on stderr says why not
 */
export function setUp() {
  if (readyDriver()) return true;
  const reason = unobtainable();
  if (reason) {
    console.error(
      `intel-driver: not available: ${reason}; run: docker run --rm -it -v "$PWD:/concord" -w /concord node:22-bookworm npm test`,
    );
    return false;
  }
  runLocked('intel-driver', cache, script);
  return readyDriver() !== undefined;
}

if (process.argv[1] && realpathSync(process.argv[1]) === script) {
  if (process.argv.includes('--locked')) {
    process.exitCode = makeDriver() ? 0 : 1;
  } else {
    process.exitCode = setUp() ? 0 : 1;
    const stamp = readyDriver();
    const use = 'node software-devices/intel-driver/run.mjs dg2 <command>';
    if (stamp) say(`Intel's driver is ready: ${stamp.version}; use it: ${use}`);
  }
}
