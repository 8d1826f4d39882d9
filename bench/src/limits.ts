import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { deviceOf, useDevice } from './device.ts';
import { casesOf, selectCases } from './limits/cases.ts';
import { readTorch, torchContestants, torchEntries } from './limits/torch.ts';
import { measureCase } from './turns.ts';
import { CASE_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';
import { type CaseResult, caseResult, contestantResult, type Entry, newResults } from './results.ts';
import { formatTable, perSecond } from './table.ts';

/**
 * Times the WebGPU backend with the cases that PyTorch is timed with on the same device, and prints a JSON line for each.
 * Needs none of the peers. Options: see the help in main.ts.
 *
 * @returns whether every case ran and was right
 */
export async function benchLimits(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...CASE_OPTIONS,
      device: { type: 'string' },
      torch: { type: 'string' },
      enable: { type: 'string', default: '' },
    },
  });
  const theirs = values.torch === undefined ? undefined : readTorch(values.torch);
  const cases = selectCases(casesOf(values.quick ? 'quick' : 'gpu'), values.only, values.case);
  await useDevice(values.device);
  const dawn = { enable: values.enable.split(',').filter(Boolean) };
  const { name, driver } = await deviceOf(new WebGpuBackend({ dawn }));
  console.error(`${name}, ${driver}; Node ${process.version}`);

  const ours = concord('this checkout', () => new WebGpuBackend({ dawn }));
  const schedule = { rounds: values.quick ? 1 : 7, roundMs: values.quick ? 1 : 20 };
  const found: CaseResult[] = [];
  for (const limitCase of cases) {
    const outcomes = await measureCase(limitCase, [ours], schedule);
    const result = caseResult(limitCase, outcomes, torchEntries(theirs, limitCase, 'torch'));
    found.push(result);
    const { ms, failed } = result.entries.at(-1) as Entry;
    if (ms === undefined) console.error(`FAILED ${limitCase.op} ${limitCase.name}: ${failed}`);
    else console.log(JSON.stringify({ op: result.op, case: result.case, ms, ...speedOf(result, ms) }));
  }
  await ours.close?.();
  const contestants = [contestantResult(ours), ...torchContestants(theirs, 'torch')];
  const results = newResults({ arena: 'limits', device: name, schedule, contestants, cases: found });
  if (theirs !== undefined) console.log(`\n${formatTable(results)}`);
  const failures = found.filter(({ entries }) => entries.at(-1)?.ms === undefined).length;
  if (failures > 0) console.error(`${failures} of ${cases.length} cases failed`);
  return failures === 0;
}

/** TFLOP/s of cases that compute, TB/s of those that only move memory, as PyTorch's script gives them. */
function speedOf(result: CaseResult, ms: number): { readonly tflops: number } | { readonly tbps: number } {
  const speed = Number((perSecond(result, ms) / 1e12).toFixed(3));
  return result.flops === undefined ? { tbps: speed } : { tflops: speed };
}
