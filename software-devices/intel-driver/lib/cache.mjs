// @ts-check
// Where Intel's driver lies, and whether it is whole. Cheap, as every test run asks.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Stamp what set-up notes beside the unpacked driver
 * @property {string} key what it was made for, see {@link stampKey}
 * @property {string} version of driver and compiler, for people; it names what they compile differently
 * @property {Record<string, number>} files bytes of each file, by its path in the folder
 */

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

/** All that set-up downloads and unpacks is in this folder. */
export const cache = process.env['CONCORD_INTEL_DRIVER_CACHE'] ?? path('../../../.cache/software-devices/intel-driver');

/** The unpacked packages. */
export const folder = join(cache, 'driver');

/** Where libraries lie in a folder of unpacked packages, as `LD_LIBRARY_PATH` has to have them. */
export const librariesIn = (/** @type {string} */ unpacked) =>
  ['usr/lib/x86_64-linux-gnu', 'lib/x86_64-linux-gnu'].map((libraries) => join(unpacked, libraries)).join(':');

/** The driver in a folder of unpacked packages: what `ZE_ENABLE_ALT_DRIVERS` has to name. */
export const driverIn = (/** @type {string} */ unpacked) =>
  join(unpacked, 'usr/lib/x86_64-linux-gnu/libze_intel_gpu.so.1');

/** Its compiler, which the driver loads by name. */
export const compilerIn = (/** @type {string} */ unpacked) => join(unpacked, 'usr/lib/x86_64-linux-gnu/libigc.so.1');

/** The driver is fetched anew on another system and by another version of set-up. */
export function stampKey() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of ['/etc/os-release', path('make.mjs')]) if (existsSync(file)) hash.update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * The notes of set-up about the driver, or undefined where it is missing, damaged, or of another system.
 *
 * @returns {Stamp | undefined}
 */
export function readyDriver() {
  try {
    /** @type {Stamp} */
    const stamp = JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8'));
    const whole = Object.entries(stamp.files).every(([file, size]) => statSync(join(folder, file)).size === size);
    return whole && stamp.key === stampKey() ? stamp : undefined;
  } catch {
    // A file is missing, or the note is cut off: not ready.
    return undefined;
  }
}
