// @ts-check
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from '../lib/paths.mjs';
import { backendCpuFaults } from './faults/backend-cpu.mjs';
import { coreCallFaults } from './faults/core-calls.mjs';
import { coreMemoryFaults } from './faults/core-memory.mjs';
import { levelZeroDeviceFaults } from './faults/levelzero-device.mjs';
import { levelZeroKernelFaults } from './faults/levelzero-kernels.mjs';
import { kernelFaults } from './faults/kernel.mjs';
import { opsFaults } from './faults/ops.mjs';
import { spirvBuilderFaults } from './faults/spirv-builder.mjs';
import { wasmFaults } from './faults/wasm.mjs';
import { webgpuKernelFaults } from './faults/webgpu-kernels.mjs';
import { webgpuMemoryFaults } from './faults/webgpu-memory.mjs';
import { webgpuRunFaults } from './faults/webgpu-run.mjs';
import { webgpuStreamFaults } from './faults/webgpu-stream.mjs';
import { idOf } from './plant.mjs';

/**
 * Every planted fault, with its name.
 *
 * @returns {import('./plant.mjs').NamedFault[]}
 */
export function allFaults() {
  return [
    ...coreMemoryFaults,
    ...coreCallFaults,
    ...backendCpuFaults,
    ...kernelFaults,
    ...spirvBuilderFaults,
    ...wasmFaults,
    ...opsFaults,
    ...webgpuMemoryFaults,
    ...webgpuStreamFaults,
    ...webgpuKernelFaults,
    ...webgpuRunFaults,
    ...levelZeroDeviceFaults,
    ...levelZeroKernelFaults,
  ].map((fault) => ({ ...fault, id: idOf(fault) }));
}

/**
 * The faults of a JSON file from elsewhere: a list of `{ file, find, replace, breaks }`.
 *
 * @param {string} file
 * @returns {import('./plant.mjs').NamedFault[]}
 */
export function faultsIn(file) {
  /** @type {import('./plant.mjs').Fault[]} */
  const faults = JSON.parse(readFileSync(file, 'utf8'));
  for (const fault of faults) {
    for (const name of /** @type {const} */ (['file', 'find', 'replace', 'breaks'])) {
      if (typeof fault[name] !== 'string') throw new Error(`${file}: ${name} of ${JSON.stringify(fault)} must be text`);
    }
  }
  return faults.map((fault) => ({ ...fault, id: idOf(fault) }));
}

const RECORD = join(root, 'tools/mutate/killed.json');

/**
 * The names of the faults that a recorded run killed: the daily sample is taken from them.
 *
 * @returns {Set<string>}
 */
export function recordedKills() {
  return new Set(/** @type {string[]} */ (JSON.parse(readFileSync(RECORD, 'utf8'))));
}

/**
 * Writes the results of a run to the record.
 *
 * @param {readonly import('./judge.mjs').Verdict[]} verdicts
 */
export function record(verdicts) {
  const kills = [...withVerdicts(recordedKills(), allFaults(), verdicts)].sort();
  writeFileSync(RECORD, `${JSON.stringify(kills, null, 2)}\n`);
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
    if (end === 'killed') after.add(fault.id);
    else after.delete(fault.id);
  }
  return new Set([...after].filter((id) => known.has(id)));
}

/**
 * The faults in the order of a day, which mixes packages: a run that is stopped has seen some of each.
 *
 * @param {readonly import('./plant.mjs').NamedFault[]} faults
 * @param {string} day - such as 2026-07-31
 * @returns {import('./plant.mjs').NamedFault[]}
 */
export function shuffled(faults, day) {
  const placeOf = (/** @type {string} */ id) => createHash('sha256').update(`${day} ${id}`).digest('hex');
  return faults
    .map((fault) => ({ fault, place: placeOf(fault.id) }))
    .sort((a, b) => (a.place < b.place ? -1 : 1))
    .map(({ fault }) => fault);
}

/**
 * The faults of a day: that many of those that a recorded run killed, another choice each day and the same all day long.
 *
 * @param {readonly import('./plant.mjs').NamedFault[]} faults
 * @param {ReadonlySet<string>} kills - names
 * @param {number} count
 * @param {string} day - such as 2026-07-31
 * @returns {import('./plant.mjs').NamedFault[]}
 */
export function sampleOf(faults, kills, count, day) {
  const killed = faults.filter(({ id }) => kills.has(id));
  return shuffled(killed, day).slice(0, count);
}
