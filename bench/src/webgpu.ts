import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { webgpuCases } from './cases.ts';
import { installNavigator } from './dawn.ts';
import { slugOf, useDevice } from './device.ts';
import { machine } from './machine.ts';
import { measureCase, type Schedule } from './measure.ts';
import { formatOverhead, measureOverhead, type Overhead } from './overhead.ts';
import type { Outcome } from './peer.ts';
import { concord } from './peers/concord.ts';
import { saveOutcomes } from './results.ts';
import { formatCase, formatSummary } from './table.ts';

const SCHEDULE: Schedule = { rounds: 9, warmups: 1, roundMs: 100, maxRepeats: 100, budgetMs: 40_000 };
const QUICK_SCHEDULE: Schedule = { rounds: 3, warmups: 0, roundMs: 1, maxRepeats: 2 };

/**
 * `[--quick] [--device lavapipe|swiftshader|system] [--only OP,...]`: times the WebGPU backend beside its peers in Node,
 * prints a table per case and the cost of a tiny op, and writes `results/webgpu-<device>.json` (not when quick, and not
 * of some of the ops).
 *
 * @returns whether all of our own results are there and right
 */
export async function benchWebgpu(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      quick: { type: 'boolean', default: false },
      device: { type: 'string' },
      only: { type: 'string' },
    },
  });
  await useDevice(values.device);
  const { device, overhead } = await tryBackend(values.quick);
  const host: Record<string, string | number> = { device, ...machine() };
  const schedule = values.quick ? QUICK_SCHEDULE : SCHEDULE;
  console.log(`${device}; ${host['cpu']}, ${host['cores']} cores, ${host['platform']}, Node ${host['node']}\n`);
  console.log(`${formatOverhead(overhead)}\n`);

  await installNavigator();
  // Peers look for a GPU when they are loaded.
  const [{ jaxJs }, { tfjsWebgpu }] = await Promise.all([
    import('./peers/jax-js.ts'),
    import('./peers/tfjs-webgpu.ts'),
  ]);
  const peers = [concord('@concord/backend-webgpu, this checkout', () => new WebGpuBackend()), jaxJs, tfjsWebgpu];
  const outcomes: Outcome[] = [];
  const only = values.only?.split(',');
  const cases = webgpuCases(values.quick).filter(({ work }) => only?.includes(work.op) ?? true);
  for (const testCase of cases) {
    const ofCase = await measureCase(testCase, peers, schedule);
    console.log(`${formatCase(ofCase)}\n`);
    outcomes.push(...ofCase);
  }
  console.log(`### All cases\n\n${formatSummary(outcomes)}`);
  if (!values.quick && only === undefined)
    saveOutcomes(`webgpu-${slugOf(device)}`, { machine: host, overhead }, outcomes);
  return outcomes.every(({ peer, failure }) => peer.name !== 'concord' || failure === undefined);
}

/** The name of the device, and what an op costs on the backend as it is by default. */
async function tryBackend(quick: boolean): Promise<{ device: string; overhead: Overhead }> {
  const backend = new WebGpuBackend();
  await backend.init();
  const overhead = await measureOverhead(backend, quick);
  const device = backend.device.name;
  await backend.dispose();
  return { device, overhead };
}
