// @ts-check
import { createHash } from 'node:crypto';
import { backendCpuFaults } from './faults/backend-cpu.mjs';
import { coreCallFaults } from './faults/core-calls.mjs';
import { coreMemoryFaults } from './faults/core-memory.mjs';
import { levelZeroDeviceFaults } from './faults/levelzero-device.mjs';
import { levelZeroKernelFaults } from './faults/levelzero-kernels.mjs';
import { kernelFaults } from './faults/kernel.mjs';
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
    ...webgpuMemoryFaults,
    ...webgpuStreamFaults,
    ...webgpuKernelFaults,
    ...webgpuRunFaults,
    ...levelZeroDeviceFaults,
    ...levelZeroKernelFaults,
  ].map((fault) => ({ ...fault, id: idOf(fault) }));
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
