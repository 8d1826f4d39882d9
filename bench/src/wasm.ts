import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { WasmBackend } from '@concord/backend-wasm';
import { runArena } from './arena.ts';
import { casesOf, selectCases } from './limits/cases.ts';
import { describeBackend } from './overhead.ts';
import { CASE_OPTIONS, parseCeilings, positive, RUN_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';
import { type Candidate, candidate } from './results.ts';

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
  const threads = values.threads === undefined ? availableParallelism() : positive('--threads', values.threads);
  const { device, overhead } = await describeBackend(new WasmBackend({ threads }), values.quick, { onCpu: true });
  const arena = {
    name: `wasm-${threads}`,
    device: device.name,
    overhead,
    cases: selectCases(casesOf(values.quick ? 'quick' : 'wasm'), values.only, values.case),
    candidates: candidates(threads),
    schedule: values.quick
      ? { rounds: 3, roundMs: 1 }
      : { rounds: 11, roundMs: 20, pauseMs: 20, takes: 'least' as const },
    ceilings: parseCeilings(values.ceilings),
  };
  return runArena(arena, values);
}

function candidates(threads: number): Candidate[] {
  const relaxed = { name: 'concord relaxed', remark: 'with relaxed SIMD, which Node 20 has only when asked to' };
  return [
    candidate('concord', () => concord(VERSION, () => new WasmBackend({ threads, relaxedSimd: false })), 'ours'),
    candidate(
      relaxed.name,
      () => concord(VERSION, () => new WasmBackend({ threads, relaxedSimd: true }), relaxed),
      'option',
    ),
    candidate('onnxruntime web', async () => (await import('./peers/onnxruntime-web.ts')).onnxruntimeWeb(threads)),
    candidate('onnxruntime web, fed', async () =>
      (await import('./peers/onnxruntime-web.ts')).onnxruntimeWebFed(threads),
    ),
    // In turns with the others: it slows JavaScript, and none of them computes in JavaScript.
    candidate('tfjs wasm', async () => (await import('./peers/tfjs.ts')).tfjsWasm({ isApart: false })),
    candidate('onnxruntime cpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeCpu(threads)),
  ];
}
