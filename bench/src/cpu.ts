import { parseArgs } from 'node:util';
import { CpuBackend } from '@concord/backend-cpu';
import { cpuCases } from './cases.ts';
import { machine } from './machine.ts';
import { measureCase, type Schedule } from './measure.ts';
import type { Outcome, Peer } from './peer.ts';
import { concord } from './peers/concord.ts';
import { handTiled } from './peers/hand-tiled.ts';
import { mlMatrix } from './peers/ml-matrix.ts';
import { ndarrayGemm } from './peers/ndarray-gemm.ts';
import { numericJs } from './peers/numeric.ts';
import { stdlib } from './peers/stdlib.ts';
import { tfjsCpu } from './peers/tfjs-cpu.ts';
import { saveOutcomes } from './results.ts';
import { formatCase } from './table.ts';

const PEERS: readonly Peer[] = [
  concord('@concord/backend-cpu, this checkout', () => new CpuBackend()),
  handTiled,
  tfjsCpu,
  numericJs,
  mlMatrix,
  ndarrayGemm,
  stdlib,
];

const SCHEDULE: Schedule = { rounds: 9, warmups: 2, roundMs: 10, maxRepeats: 20 };
const QUICK_SCHEDULE: Schedule = { ...SCHEDULE, rounds: 3, warmups: 0 };

/**
 * `[--quick]`: times the CPU backend beside its peers, prints a table per case and writes `results/cpu.json` (not when
 * quick).
 *
 * @returns whether all of our own results are there and right
 */
export async function benchCpu(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({ args: [...args], options: { quick: { type: 'boolean', default: false } } });
  const schedule = values.quick ? QUICK_SCHEDULE : SCHEDULE;
  const host = machine();
  console.log(`${host['cpu']}, ${host['platform']}, Node ${host['node']}; one thread, ${schedule.rounds} rounds\n`);
  const outcomes: Outcome[] = [];
  for (const testCase of cpuCases(values.quick)) {
    const ofCase = await measureCase(testCase, PEERS, schedule);
    console.log(`${formatCase(ofCase)}\n`);
    outcomes.push(...ofCase);
  }
  if (!values.quick) saveOutcomes('cpu', { machine: host }, outcomes);
  return outcomes.every(({ peer, failure }) => peer.name !== 'concord' || failure === undefined);
}
