import { parseArgs } from 'node:util';
import { type DawnOptions, WebGpuBackend } from '@concord/backend-webgpu';
import { runArena } from './arena.ts';
import { installNavigator, slugOf, useDevice } from './device.ts';
import { measureFirstCalls } from './first-call.ts';
import { type CaseSet, casesOf, type LimitCase, selectCases } from './limits/cases.ts';
import { readTorch, runTorch } from './limits/torch.ts';
import { describeBackend } from './overhead.ts';
import { CASE_OPTIONS, parseCeilings, RUN_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';
import { type Candidate, candidate } from './results.ts';

/**
 * Times the WebGPU backend beside its peers in Node on the same device, and beside PyTorch where that has the device too.
 * Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchWebgpu(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...CASE_OPTIONS, ...RUN_OPTIONS, device: { type: 'string' }, limit: { type: 'string' } },
  });
  const ceilings = parseCeilings(values.ceilings);
  const { quick, only } = values;
  const recorded = values.limit === undefined ? undefined : readTorch(values.limit);
  await useDevice(values.device);
  const { device, overhead } = await describeBackend(ours(), quick);
  const isSoftware = device.type === 'software' || device.type === 'cpu';
  const set: CaseSet = quick ? 'quick' : isSoftware ? 'software' : 'gpu';
  const cases = selectCases(casesOf(set), only, values.case);
  await installNavigator({ pauses: isSoftware });
  const arena = {
    name: `webgpu-${slugOf(device.name)}`,
    device: device.name,
    driver: device.driver,
    cases,
    candidates: candidates(isSoftware),
    // Waits for a software device take milliseconds, so its rounds are longer.
    schedule: quick ? { rounds: 3, roundMs: 1 } : { rounds: 7, ...(isSoftware ? { roundMs: 100 } : GPU_ROUNDS) },
    overhead,
    firstCalls: await measureFirstCalls(oneOfEach(cases), () => ours()),
    torch:
      recorded ?? (isSoftware ? { absent: 'a software device has no vendor' } : await runTorch(set, only, values.case)),
    ceilings,
  };
  return runArena(arena, values);
}

/** The case in the middle of those of each op: a usual size. */
function oneOfEach(cases: readonly LimitCase[]): LimitCase[] {
  return [...new Set(cases.map(({ op }) => op))].map((op) => {
    const ofOp = cases.filter((each) => each.op === op);
    return ofOp[Math.floor((ofOp.length - 1) / 3)] as LimitCase;
  });
}

/** On another Dawn than the peers: without `dawn` it would take the `navigator.gpu` that is there for them. */
function ours(dawn: DawnOptions = {}): WebGpuBackend {
  return new WebGpuBackend({ dawn });
}

/**
 * A GPU that had nothing to do runs at a fraction of its clock for some tenths of a second. The wait at the end of a round
 * takes up to half a millisecond, which PyTorch's events do not see.
 */
const GPU_ROUNDS = { roundMs: 50, warmMs: 300 };

const UNCHECKED = {
  name: 'concord, robustness off',
  remark: 'dawn: { robustness: false }, for products of f16',
  ops: ['gemm_f16'],
} as const;

/** Peers look for a GPU when they are loaded, so that comes after the navigator is there. */
function candidates(isSoftware: boolean): Candidate[] {
  const version = '@concord/backend-webgpu, this checkout';
  const unchecked: Candidate = candidate(
    UNCHECKED.name,
    () => concord(version, () => ours({ robustness: false }), UNCHECKED),
    'option',
  );
  return [
    candidate('concord', () => concord(version, () => ours()), 'ours'),
    ...(isSoftware ? [] : [unchecked]),
    candidate('jax-js', async () => (await import('./peers/jax-js.ts')).jaxJs),
    candidate('tfjs webgpu', async () => (await import('./peers/tfjs.ts')).tfjsWebgpu()),
    candidate('onnxruntime webgpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeWebgpu),
  ];
}
