// @ts-check
// Where the driver lies, and whether it is whole. Cheap, as every test run asks.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {object} Stamp what set-up notes beside a finished driver
 * @property {string} key what it was made for and from, see {@link stampKey}
 * @property {string} version of the driver, for people
 * @property {Record<string, number>} files bytes of each file, by its name in the folder
 * @property {string[]} system paths of the system's files that it needs to run
 */

const path = (/** @type {string} */ relative) => fileURLToPath(new URL(relative, import.meta.url));

/** The C sources and how they are linked. */
export const sources = path('../src');

/** The program that proves once that the driver works, and the kernel it runs. */
export const probe = { program: path('../probe/probe.c'), kernel: path('../probe/probe.spvasm') };

/** All that set-up makes is in this folder. */
export const cache = process.env['CONCORD_LEVEL_ZERO_CACHE'] ?? path('../../../.cache/software-devices/level-zero-cpu');

/** The driver: what `ZE_ENABLE_ALT_DRIVERS` has to name. */
export const driver = join(cache, 'libze_concord_cpu.so');

/** The driver is made anew on another system and from other sources. */
export function stampKey() {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  const made = readdirSync(sources)
    .sort()
    .map((file) => join(sources, file));
  for (const file of ['/etc/os-release', path('make.mjs'), probe.program, probe.kernel, ...made])
    if (existsSync(file)) hash.update(`${file.length}\n`).update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * The notes of set-up about the driver, or undefined where it is missing, damaged, or of other sources or another system.
 *
 * @returns {Stamp | undefined}
 */
export function readyDriver() {
  try {
    /** @type {Stamp} */
    const stamp = JSON.parse(readFileSync(join(cache, 'ready.json'), 'utf8'));
    const whole = Object.entries(stamp.files).every(([file, size]) => statSync(join(cache, file)).size === size);
    return whole && stamp.system.every((file) => existsSync(file)) && stamp.key === stampKey() ? stamp : undefined;
  } catch {
    // A file is missing, or the note is cut off: not ready.
    return undefined;
  }
}
