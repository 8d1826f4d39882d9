import { parseArgs } from 'node:util';
import { median } from '@concord/cli/bench';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { useDevice } from './device.ts';
import { limitCases, selectCases } from './limits/cases.ts';
import { compareLines, type LimitLine, limitLine } from './limits/report.ts';
import { readTorch } from './limits/torch.ts';
import { measureCase } from './measure.ts';
import { deviceOf } from './models/start.ts';
import { CASE_OPTIONS } from './options.ts';
import { concord } from './peers/concord.ts';

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
  const theirs = values.torch === undefined ? undefined : readTorch(values.torch).lines;
  const cases = selectCases(limitCases(values.quick), values.only, values.case);
  await useDevice(values.device);
  const dawn = { enable: values.enable.split(',').filter(Boolean) };
  const { name, driver } = await deviceOf(new WebGpuBackend({ dawn }));
  console.error(`${name}, ${driver}; Node ${process.version}`);

  const ours = concord('this checkout', () => new WebGpuBackend({ dawn }));
  const lines: LimitLine[] = [];
  for (const limitCase of cases) {
    const [outcome] = await measureCase(limitCase, [ours], values.quick ? { rounds: 1, roundMs: 1 } : {});
    if (outcome !== undefined && 'rounds' in outcome) {
      const line = limitLine(limitCase, median(outcome.rounds));
      console.log(JSON.stringify(line));
      lines.push(line);
    } else console.error(`FAILED ${limitCase.op} ${limitCase.name}: ${JSON.stringify(outcome)}`);
  }
  await ours.close?.();
  if (theirs !== undefined) console.log(`\n${compareLines(lines, theirs)}`);
  if (lines.length < cases.length) console.error(`${cases.length - lines.length} of ${cases.length} cases failed`);
  return lines.length === cases.length;
}
