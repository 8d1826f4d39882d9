// @ts-check
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';

/**
 * A planted fault: one small change of real source that the tests must notice.
 *
 * @typedef {object} Fault
 * @property {string} id
 * @property {string} file - from the top of the repository
 * @property {string} find - occurs exactly once in the file
 * @property {string} replace
 * @property {string} breaks - one sentence: the effect that a user would see
 */

/** Names the fault of a run of the tests: JSON of the fault to plant. */
export const FAULT_VARIABLE = 'CONCORD_FAULT';

const RECORD = join(root, 'tools/mutate/killed.json');
const LISTS = join(import.meta.dirname, 'faults');

/** Every planted fault of the lists in `faults/`. */
export const allFaults = () => readdirSync(LISTS).flatMap((list) => faultsIn(join(LISTS, list)));

/**
 * The faults of a list: a source file on a line of its own, and for each fault a sentence that says what it breaks, the
 * text to find with `-` before each line, and what is put in its place with `+`. Lines with `#` are comments.
 *
 * @param {string} list
 * @returns {Fault[]}
 */
export function faultsIn(list) {
  let file = '';
  return readFileSync(list, 'utf8')
    .replace(/^#.*\n/gm, '')
    .split('\n\n')
    .map((block) => block.trim().split('\n'))
    .flatMap(([breaks = '', ...change]) => {
      if (change.length === 0) return ((file = breaks), []);
      const after = (/** @type {string} */ sign) =>
        change.filter((line) => line[0] === sign).map((line) => line.slice(1));
      const [find, replace] = [after('-'), after('+')];
      const isChange = find.length > 0 && find.length + replace.length === change.length;
      if (file === '' || !isChange) throw new Error(`${list}: no file before it, or no lines of - and +: ${breaks}`);
      const fault = { file, find: find.join('\n'), replace: replace.join('\n'), breaks };
      return { ...fault, id: idOf(fault) };
    });
}

/**
 * The name of a fault: its file, and a few digits of a hash of its change. It stays the same while the list around it grows.
 *
 * @param {Pick<Fault, 'file' | 'find' | 'replace'>} fault
 */
export function idOf({ file, find, replace }) {
  const digest = createHash('sha256').update(`${find}\n${replace}`).digest('hex').slice(0, 4);
  return `${file.replace(/^packages\/|\.ts$/g, '').replace('/src/', '/')}#${digest}`;
}

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
  const path = join(root, fault.file);
  const transform = (/** @type {string} */ code, /** @type {string} */ id) =>
    id.split('?')[0] === path ? plant(code, fault) : undefined;
  return [{ name: 'concord-fault', enforce: 'pre', transform }];
}

/**
 * The names of the faults that a recorded run killed: the daily sample is taken from them.
 *
 * @returns {Set<string>}
 */
export function recordedKills() {
  return new Set(JSON.parse(readFileSync(RECORD, 'utf8')));
}

/** @param {readonly import('./judge.mjs').Verdict[]} verdicts - of a run, for the record */
export function record(verdicts) {
  const kills = [...withVerdicts(recordedKills(), allFaults(), verdicts)].sort();
  writeFileSync(RECORD, `${JSON.stringify(kills, null, 2)}\n`);
}

/**
 * A record after a run: killed faults are added; faults that survived, or that are no longer in the list, are removed.
 *
 * @param {ReadonlySet<string>} kills
 * @param {readonly Fault[]} faults
 * @param {readonly import('./judge.mjs').Verdict[]} verdicts
 * @returns {Set<string>}
 */
export function withVerdicts(kills, faults, verdicts) {
  const ends = new Map(verdicts.map(({ fault, end }) => [fault.id, end]));
  const isKilled = (/** @type {string} */ id) => (ends.has(id) ? ends.get(id) === 'killed' : kills.has(id));
  return new Set(faults.map(({ id }) => id).filter(isKilled));
}

/**
 * The faults in the order of a day, which mixes packages: a run that is stopped has seen some of each.
 *
 * @param {readonly Fault[]} faults
 * @param {string} day - such as 2026-07-31
 * @returns {Fault[]}
 */
export function shuffled(faults, day) {
  const placeOf = (/** @type {Fault} */ { id }) => createHash('sha256').update(`${day} ${id}`).digest('hex');
  const placed = faults.map((fault) => ({ fault, place: placeOf(fault) }));
  return placed.sort((a, b) => (a.place < b.place ? -1 : 1)).map(({ fault }) => fault);
}

/**
 * The faults of a day: that many of those that a recorded run killed, another choice each day and the same all day long.
 *
 * @param {readonly Fault[]} faults
 * @param {ReadonlySet<string>} kills - names
 * @param {number} count
 * @param {string} day
 */
export function sampleOf(faults, kills, count, day) {
  const killed = faults.filter(({ id }) => kills.has(id));
  return shuffled(killed, day).slice(0, count);
}
