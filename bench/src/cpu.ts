import { parseArgs } from 'node:util';
import { CpuBackend } from '@concord/backend-cpu';
import { runArena } from './arena.ts';
import { casesOf, selectCases } from './limits/cases.ts';
import { type Candidate, candidate, machine } from './results.ts';
import { CASE_OPTIONS, parseCeilings, RUN_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';

const CANDIDATES: readonly Candidate[] = [
  candidate('concord', () => concord('@concord/backend-cpu, this checkout', () => new CpuBackend()), 'ours'),
  candidate('hand-tiled loop', async () => (await import('./peers/javascript.ts')).handTiled),
  candidate('tfjs cpu', async () => (await import('./peers/tfjs.ts')).tfjsCpu()),
  candidate('numeric', async () => (await import('./peers/javascript.ts')).numericJs()),
  candidate('ml-matrix', async () => (await import('./peers/javascript.ts')).mlMatrix()),
  candidate('ndarray-gemm', async () => (await import('./peers/javascript.ts')).ndarrayGemm()),
  candidate('stdlib sgemm', async () => (await import('./peers/javascript.ts')).stdlib()),
  candidate('tfjs wasm', async () => (await import('./peers/tfjs.ts')).tfjsWasm({ isApart: true })),
  candidate('onnxruntime cpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeCpu()),
  candidate('openblas', async () => (await import('./peers/native.ts')).openBlas(), 'limit'),
];

/**
 * Times the CPU backend beside other libraries that multiply matrices in Node without a GPU. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchCpu(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...CASE_OPTIONS, ...RUN_OPTIONS },
  });
  const ceilings = parseCeilings(values.ceilings);
  const arena = {
    name: 'cpu',
    device: String(machine()['cpu']),
    cases: selectCases(casesOf(values.quick ? 'quick' : 'cpu'), values.only, values.case),
    candidates: CANDIDATES,
    schedule: values.quick ? { rounds: 3, roundMs: 1 } : { rounds: 7, roundMs: 20 },
    ceilings,
  };
  return runArena(arena, values);
}
