// @ts-check
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { idOf } from './plant.mjs';

/** @typedef {import('./plant.mjs').NamedFault} NamedFault */

const RECORD = join(root, 'tools/mutate/killed.json');
const LISTS = join(import.meta.dirname, 'faults');

const modules = await Promise.all(readdirSync(LISTS).map((file) => import(join(LISTS, file))));
const all = named(modules.flatMap((module) => Object.values(module).flat()));

/** Every planted fault of the lists in `faults/`, with its name. */
export const allFaults = () => all;

/**
 * The faults of a JSON file from elsewhere: a list of `{ file, find, replace, breaks }`.
 *
 * @param {string} file
 */
export function faultsIn(file) {
  /** @type {import('./plant.mjs').Fault[]} */
  const faults = JSON.parse(readFileSync(file, 'utf8'));
  for (const fault of faults) {
    for (const name of /** @type {const} */ (['file', 'find', 'replace', 'breaks'])) {
      if (typeof fault[name] !== 'string') throw new Error(`${file}: ${name} of ${JSON.stringify(fault)} must be text`);
    }
  }
  return named(faults);
}

/**
 * @param {readonly import('./plant.mjs').Fault[]} faults
 * @returns {NamedFault[]}
 */
function named(faults) {
  return faults.map((fault) => ({ ...fault, id: idOf(fault) }));
}

/**
 * The names of the faults that a recorded run killed: the daily sample is taken from them.
 *
 * @returns {Set<string>}
 */
export function recordedKills() {
  return new Set(JSON.parse(readFileSync(RECORD, 'utf8')));
}

/**
 * Writes the results of a run to the record.
 *
 * @param {readonly import('./judge.mjs').Verdict[]} verdicts
 */
export function record(verdicts) {
  const kills = [...withVerdicts(recordedKills(), all, verdicts)].sort();
  writeFileSync(RECORD, `${JSON.stringify(kills, null, 2)}\n`);
}

/**
 * A record after a run: killed faults are added; faults that survived, or that are no longer in the list, are removed.
 *
 * @param {ReadonlySet<string>} kills
 * @param {readonly NamedFault[]} faults
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
 * @param {readonly NamedFault[]} faults
 * @param {string} day - such as 2026-07-31
 * @returns {NamedFault[]}
 */
export function shuffled(faults, day) {
  const placeOf = (/** @type {NamedFault} */ { id }) => createHash('sha256').update(`${day} ${id}`).digest('hex');
  const places = new Map(faults.map((fault) => [fault, placeOf(fault)]));
  return [...faults].sort((a, b) => (String(places.get(a)) < String(places.get(b)) ? -1 : 1));
}

/**
 * The faults of a day: that many of those that a recorded run killed, another choice each day and the same all day long.
 *
 * @param {readonly NamedFault[]} faults
 * @param {ReadonlySet<string>} kills - names
 * @param {number} count
 * @param {string} day
 */
export function sampleOf(faults, kills, count, day) {
  const killed = faults.filter(({ id }) => kills.has(id));
  return shuffled(killed, day).slice(0, count);
}
