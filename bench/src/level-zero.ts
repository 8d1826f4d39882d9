import { parseArgs } from 'node:util';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { levelZeroCases } from './cases.ts';
import { useLevelZeroCpu } from './device.ts';
import { machine } from './machine.ts';
import { measureCase, type Schedule } from './measure.ts';
import { formatOverhead, measureOverhead, type Overhead } from './overhead.ts';
import type { Outcome, Peer } from './peer.ts';
import { cLoops } from './peers/c-loops.ts';
import { concord } from './peers/concord.ts';
import { openBlas } from './peers/open-blas.ts';
import { saveOutcomes } from './results.ts';
import { formatCase, formatSummary } from './table.ts';

const SCHEDULE: Schedule = { rounds: 15, warmups: 2, roundMs: 100, maxRepeats: 100, budgetMs: 40_000 };
/** Elements of a small op. */
const SMALL = 1024;
const QUICK_SCHEDULE: Schedule = { rounds: 3, warmups: 0, roundMs: 1, maxRepeats: 2 };

/**
 * `[--quick] [--device cpu|system] [--only OP,...]`: times the Level Zero backend beside OpenBLAS and loops in C, which run
 * on the CPU, as the CPU driver does. Writes `results/level-zero-cpu.json` (not when quick, of some ops, or on a GPU).
 *
 * @returns whether all of our own results are there and right
 */
export async function benchLevelZero(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      device: { type: 'string', default: 'cpu' },
      only: { type: 'string' },
    },
  });
  if (values.device === 'cpu') await useLevelZeroCpu();
  else if (values.device !== 'system') throw new Error(`--device takes cpu or system, not ${values.device}`);
  const { device, overhead } = await tryBackend(values.quick);
  const host: Record<string, string | number> = { device, ...machine() };
  const schedule = values.quick ? QUICK_SCHEDULE : SCHEDULE;
  console.log(`${device}; ${host['cpu']}, ${host['cores']} cores, ${host['platform']}, Node ${host['node']}\n`);
  console.log(`${formatOverhead(overhead)}\n`);

  const ours = concord('@concord/backend-levelzero, this checkout', () => new LevelZeroBackend());
  const peers = [ours, ...available([openBlas, cLoops])];
  const outcomes: Outcome[] = [];
  const only = values.only?.split(',');
  const cases = levelZeroCases(values.quick).filter(({ work }) => only?.includes(work.op) ?? true);
  for (const testCase of cases) {
    const ofCase = await measureCase(testCase, peers, schedule);
    console.log(`${formatCase(ofCase)}\n`);
    outcomes.push(...ofCase);
  }
  console.log(`### All cases\n\n${formatSummary(outcomes)}`);
  if (!values.quick && only === undefined && values.device === 'cpu') {
    saveOutcomes('level-zero-cpu', { machine: host, overhead }, outcomes);
  }
  return outcomes.every(({ peer, failure }) => peer.name !== 'concord' || failure === undefined);
}

/** The name of the device, and what an op costs on the backend as it is by default. */
async function tryBackend(quick: boolean): Promise<{ device: string; overhead: Overhead }> {
  const backend = new LevelZeroBackend();
  await backend.init();
  const overhead = await measureOverhead(backend, quick, SMALL);
  const device = backend.device.name;
  await backend.dispose();
  return { device, overhead };
}

/** The peers that this machine has; why it lacks one is printed. */
function available(makers: readonly (() => Peer)[]): Peer[] {
  return makers.flatMap((make) => {
    try {
      return [make()];
    } catch (error) {
      console.log(`${error instanceof Error ? error.message : String(error)}\n`);
      return [];
    }
  });
}
