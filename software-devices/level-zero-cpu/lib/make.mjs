// @ts-check
// Makes the driver: compiles it for this machine and proves through the real loader that it runs a kernel.
import { mkdirSync, readFileSync, readdirSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { run } from '../../vulkan/lib/system.mjs';
import { cache, driver, probe, readyDriver, sources, stampKey } from './cache.mjs';
import { ensureNeeds, runtimeFiles, say } from './needs.mjs';

// Made here and moved at the end, so that a driver is whole or absent.
const work = join(cache, 'work');

/** The compiler's arguments for every C file. */
export const compile = ['-std=c11', '-O2', '-Wall', '-Wextra', '-Werror'];

/**
 * Compiles and links the driver.
 *
 * @param {string} file where to put it
 * @param {string[]} [options] more of the compiler's
 */
export function buildDriver(file, options = []) {
  const code = readdirSync(sources)
    .filter((name) => name.endsWith('.c'))
    .sort()
    .map((name) => join(sources, name));
  // PoCL brings the C++ library itself, but not the development file that -lstdc++ means.
  const libraries = readFileSync(join(sources, 'LINK'), 'utf8').trim().replace('-lstdc++', '-l:libstdc++.so.6');
  // nodelete: threads may still be inside when the loader closes it at the end of a process.
  const link = '-Wl,-Bsymbolic,-z,nodelete,--exclude-libs,ALL';
  const library = ['-shared', '-fPIC', '-fvisibility=hidden', '-pthread', link];
  run('cc', [...compile, ...options, ...library, '-o', file, ...code, ...libraries.split(/\s+/)]);
}

/**
 * Runs the probe on a driver.
 *
 * @param {string} file the driver
 * @returns {string} the name of its device
 */
function runProbe(file) {
  const program = join(work, 'probe');
  const kernel = join(work, 'probe.spv');
  run('cc', [...compile, '-o', program, probe.program, '-lze_loader']);
  run('spirv-as', ['--target-env', 'spv1.0', probe.kernel, '-o', kernel]);
  const own = Object.keys(process.env).filter((name) => name.startsWith('LEVEL_ZERO_CPU_'));
  const env = { ...Object.fromEntries(own.map((name) => [name, undefined])), ZE_ENABLE_ALT_DRIVERS: file };
  return run(program, [kernel], { env }).trim();
}

/**
 * Makes the driver unless it is ready. One at a time in a cache: see the lock in setup.mjs.
 *
 * @returns {boolean} whether it is ready; a line on stderr says why not
 */
export function makeDriver() {
  if (readyDriver()) return true;
  try {
    // A run that was stopped half-way leaves its work behind.
    rmSync(work, { recursive: true, force: true });
    ensureNeeds();
    mkdirSync(work, { recursive: true });
    say('building the driver');
    const made = join(work, basename(driver));
    const key = stampKey();
    buildDriver(made);
    const name = runProbe(made);
    const files = { [basename(driver)]: statSync(made).size };
    const stamp = { key, version: name, files, system: runtimeFiles() };
    rmSync(join(cache, 'ready.json'), { force: true });
    renameSync(made, driver);
    writeFileSync(join(work, 'ready.json'), JSON.stringify(stamp, null, 2));
    renameSync(join(work, 'ready.json'), join(cache, 'ready.json'));
    return true;
  } catch (error) {
    console.error(`level-zero-cpu: not available: ${error instanceof Error ? error.message : String(error)}`);
    return false;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}
