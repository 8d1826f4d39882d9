// @ts-check
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';

const FILE = join(root, 'tools/mutate/killed.json');

/**
 * The names of the faults that a recorded run killed: the daily sample is taken from them.
 *
 * @returns {Set<string>}
 */
export function recordedKills() {
  return new Set(/** @type {string[]} */ (JSON.parse(readFileSync(FILE, 'utf8'))));
}

/**
 * Writes the results of a run to the record.
 *
 * @param {readonly import('./plant.mjs').NamedFault[]} faults - all that there are
 * @param {readonly import('./judge.mjs').Verdict[]} verdicts
 */
export function record(faults, verdicts) {
  const kills = [...withVerdicts(recordedKills(), faults, verdicts)].sort();
  writeFileSync(FILE, `${JSON.stringify(kills, null, 2)}\n`);
}

/**
 * A record after a run: killed faults are added; faults that survived, or that are no longer in the list, are removed.
 *
 * @param {ReadonlySet<string>} kills
 * @param {readonly import('./plant.mjs').NamedFault[]} faults
 * @param {readonly import('./judge.mjs').Verdict[]} verdicts
 * @returns {Set<string>}
 */
export function withVerdicts(kills, faults, verdicts) {
  const known = new Set(faults.map(({ id }) => id));
  const after = new Set(kills);
  for (const { fault, end } of verdicts) {
    if (end === 'killed' || end === 'killed by time') after.add(fault.id);
    else after.delete(fault.id);
  }
  return new Set([...after].filter((id) => known.has(id)));
}
