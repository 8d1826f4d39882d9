// @ts-check
// What set-up notes beside a device that it has made, and whether the device is still that one.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';

/**
 * @typedef {object} Stamp
 * @property {string} key what the device was made for and from, see {@link keyOf}
 * @property {string} version of the driver, for people
 * @property {Record<string, number>} files bytes of each file, by its path in the folder
 * @property {string[]} [system] paths of the system's files that it needs to run
 */

/** The key of a device that is made from these files on this system: it is made anew from others and on another. @param {readonly string[]} files */
export function keyOf(files) {
  const hash = createHash('sha256').update(`${process.platform} ${process.arch}\n`);
  for (const file of ['/etc/os-release', ...files])
    if (existsSync(file)) hash.update(`${file.length}\n`).update(readFileSync(file));
  return hash.digest('hex');
}

/**
 * The notes in a folder, or undefined where what they are about is missing, damaged, or of another key.
 *
 * @param {string} folder
 * @param {() => string} key
 * @returns {Stamp | undefined}
 */
export function readStamp(folder, key) {
  try {
    /** @type {Stamp} */
    const stamp = JSON.parse(readFileSync(join(folder, 'ready.json'), 'utf8'));
    const whole = Object.entries(stamp.files).every(([file, size]) => statSync(join(folder, file)).size === size);
    return whole && (stamp.system ?? []).every((file) => existsSync(file)) && stamp.key === key() ? stamp : undefined;
  } catch {
    // A file is missing, or the note is cut off: not ready.
    return undefined;
  }
}
