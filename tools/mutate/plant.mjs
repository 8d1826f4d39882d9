// @ts-check
import { createHash } from 'node:crypto';

/**
 * A planted fault: one small change of real source that the tests must notice.
 *
 * @typedef {object} Fault
 * @property {string} file - from the top of the repository
 * @property {string} find - occurs exactly once in the file
 * @property {string} replace
 * @property {string} breaks - one sentence: the effect that a user would see
 * @property {string} [equivalent] - why no program can see it; a survivor without it is a hole in the tests
 */

/**
 * A fault with its name.
 *
 * @typedef {Fault & { id: string }} NamedFault
 */

/**
 * The source with the fault in it.
 *
 * @param {string} code
 * @param {Pick<Fault, 'file' | 'find' | 'replace'>} fault
 * @returns {string}
 * @throws {Error} unless `find` occurs exactly once
 */
export function plant(code, { file, find, replace }) {
  const times = code.split(find).length - 1;
  if (times !== 1) throw new Error(`${file}: ${JSON.stringify(find)} occurs ${times} times, not once`);
  return code.replace(find, () => replace);
}

/**
 * The name of a fault: its file, and a few digits of a hash of its change. It stays the same while the list around it grows.
 *
 * @param {Fault} fault
 * @returns {string}
 */
export function idOf({ file, find, replace }) {
  const digest = createHash('sha256').update(`${find}\n${replace}`).digest('hex').slice(0, 4);
  return `${file
    .replace(/^packages\//, '')
    .replace('/src/', '/')
    .replace(/\.ts$/, '')}#${digest}`;
}

/**
 * The package that a fault is in.
 *
 * @param {Fault} fault
 * @returns {string}
 */
export function packageOf({ file }) {
  return file.split('/')[1] ?? '';
}
