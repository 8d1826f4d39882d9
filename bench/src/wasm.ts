import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { WasmBackend } from '@concord/backend-wasm';
import { type Candidate, runArena } from './arena.ts';
import { UsageError } from './exit.ts';
import { casesOf, selectCases } from './limits/cases.ts';
import { machine } from './machine.ts';
import { CASE_OPTIONS, parseCeilings, RUN_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';

const VERSION = '@concord/backend-wasm, this checkout';

/**
 * Times the WebAssembly backend beside others on WebAssembly, and native code, with as many threads each. Options: see the help
 * in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchWasm(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...CASE_OPTIONS, ...RUN_OPTIONS, threads: { type: 'string' } },
  });
  const threads = parseThreads(values.threads);
  const arena = {
    name: `wasm-${threads}`,
    device: String(machine()['cpu']),
    cases: selectCases(casesOf(values.quick ? 'quick' : 'cpu'), values.only, values.case),
    candidates: candidates(threads),
    schedule: values.quick ? { rounds: 3, roundMs: 1 } : { rounds: 7, roundMs: 20 },
    ceilings: parseCeilings(values.ceilings),
  };
  return runArena(arena, values);
}

function candidates(threads: number): Candidate[] {
  const relaxed = { name: 'concord relaxed', remark: 'with relaxed SIMD, which Node 20 has only when asked to' };
  return [
    {
      name: 'concord',
      role: 'ours',
      load: () => concord(VERSION, () => new WasmBackend({ threads, relaxedSimd: false })),
    },
    {
      name: relaxed.name,
      role: 'option',
      load: () => concord(VERSION, () => new WasmBackend({ threads, relaxedSimd: true }), relaxed),
    },
    {
      name: 'onnxruntime web',
      role: 'peer',
      load: async () => (await import('./peers/onnxruntime-web.ts')).onnxruntimeWeb(threads),
    },
    { name: 'tfjs wasm', role: 'peer', load: async () => (await import('./peers/tfjs-wasm.ts')).tfjsWasm },
    {
      name: 'onnxruntime cpu',
      role: 'peer',
      load: async () => (await import('./peers/onnxruntime.ts')).onnxruntimeCpu(threads),
    },
  ];
}

function parseThreads(text: string | undefined): number {
  if (text === undefined) return availableParallelism();
  const threads = Number(text);
  if (!Number.isInteger(threads) || threads < 1)
    throw new UsageError(`--threads takes a number of threads, not ${text}`);
  return threads;
}
