// @ts-check
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';

/**
 * A planted fault: one small change of real source that the tests must notice.
 *
 * @typedef {object} Fault
 * @property {string} file - from the top of the repository
 * @property {string} find - occurs exactly once in the file
 * @property {string} replace
 * @property {string} breaks - one sentence: the effect that a user would see
 *
 * @typedef {Fault & { id: string }} NamedFault
 */

/** Names the fault of a run of the tests: JSON of the fault to plant. */
export const FAULT_VARIABLE = 'CONCORD_FAULT';

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
 */
export function idOf({ file, find, replace }) {
  const digest = createHash('sha256').update(`${find}\n${replace}`).digest('hex').slice(0, 4);
  return `${file.replace(/^packages\/|\.ts$/g, '').replace('/src/', '/')}#${digest}`;
}

/**
 * The plugin that plants the fault of this run in the one source file as the tests load it. Nothing is copied and nothing
 * rebuilt, so that runs with different faults go on side by side.
 *
 * @returns {{ name: string, enforce: 'pre', transform: (code: string, id: string) => string | undefined }[]} none
 *   where no fault is asked for
 */
export function faultPlugins() {
  const asked = process.env[FAULT_VARIABLE];
  if (!asked) return [];
  const fault = /** @type {Fault} */ (JSON.parse(asked));
  const file = join(root, fault.file);
  return [
    {
      name: 'concord-fault',
      enforce: 'pre',
      transform(code, id) {
        return id.split('?')[0] === file ? plant(code, fault) : undefined;
      },
    },
  ];
}
