import { parseArgs } from 'node:util';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { runArena } from './arena.ts';
import { slugOf, useLevelZeroCpu } from './device.ts';
import { casesOf, selectCases } from './limits/cases.ts';
import { describeBackend } from './overhead.ts';
import { CASE_OPTIONS, oneOf, parseCeilings, RUN_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';
import { type Candidate, candidate } from './results.ts';

const OURS: Candidate = candidate(
  'concord',
  () => concord('@concord/backend-levelzero, this checkout', () => new LevelZeroBackend()),
  'ours',
);

/** All on the CPU, as the CPU driver is. */
const OTHERS: readonly Candidate[] = [
  candidate('onnxruntime cpu', async () => (await import('./peers/onnxruntime.ts')).onnxruntimeCpu()),
  candidate('openblas', async () => (await import('./peers/native.ts')).openBlas(), 'limit'),
  candidate('C loops', async () => (await import('./peers/native.ts')).cLoops(), 'limit'),
];

/**
 * Times the Level Zero backend, on the CPU driver beside libraries that run on the CPU. Options: see the help in main.ts.
 *
 * @returns whether all of our own results are there and right
 */
export async function benchLevelZero(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: { ...CASE_OPTIONS, ...RUN_OPTIONS, device: { type: 'string', default: 'cpu' } },
  });
  const ceilings = parseCeilings(values.ceilings);
  const isCpu = oneOf('--device', values.device, ['cpu', 'system']) === 'cpu';
  if (isCpu) await useLevelZeroCpu();
  const { device, overhead } = await describeBackend(new LevelZeroBackend(), values.quick);
  const arena = {
    name: `level-zero-${isCpu ? 'cpu' : slugOf(device.name)}`,
    device: device.name,
    driver: device.driver,
    cases: selectCases(casesOf(values.quick ? 'quick' : isCpu ? 'levelZero' : 'gpu'), values.only, values.case),
    candidates: [OURS, ...(isCpu ? OTHERS : [])],
    schedule: values.quick ? { rounds: 3, roundMs: 1 } : { rounds: 15, roundMs: 100 },
    overhead,
    ceilings,
  };
  return runArena(arena, values);
}
