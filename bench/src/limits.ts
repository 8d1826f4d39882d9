import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { useDevice } from './device.ts';
import { limitCases, selectCases } from './limits/cases.ts';
import { checkTrial } from './limits/check-trial.ts';
import type { LimitCase } from './limits/limit-case.ts';
import { medianMs } from './limits/median-ms.ts';
import { compareLines, type LimitLine, limitLine } from './limits/report.ts';
import { readTorch } from './limits/torch.ts';
import { CASE_OPTIONS } from './options.ts';

/**
 * `[--quick] [--device D] [--only OP,...] [--case NAME] [--torch FILE] [--enable TOGGLE,...]`: times the WebGPU backend
 * with the cases that cuBLAS, cuDNN and PyTorch are timed with on the same device, and prints a JSON line for each.
 * Needs nothing but our packages and `webgpu`.
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
  const open = async (): Promise<WebGpuBackend> => {
    const backend = new WebGpuBackend({ dawn });
    await backend.init();
    return backend;
  };
  let backend = await open();
  console.error(`${backend.device.name}, ${backend.device.driver}; Node ${process.version}`);
  const lines: LimitLine[] = [];
  for (const limitCase of cases) {
    try {
      const line = await timeCase(backend, limitCase, values.quick);
      console.log(JSON.stringify(line));
      lines.push(line);
    } catch (error) {
      console.error(`FAILED ${limitCase.op} ${limitCase.name}: ${(error as Error).message}`);
      // What has failed in a backend's work stays failed.
      await backend.dispose();
      backend = await open();
    }
  }
  await backend.dispose();
  if (theirs !== undefined) console.log(`\n${compareLines(lines, theirs)}`);
  if (lines.length < cases.length) console.error(`${cases.length - lines.length} of ${cases.length} cases failed`);
  return lines.length === cases.length;
}

async function timeCase(backend: WebGpuBackend, limitCase: LimitCase, quick: boolean): Promise<LimitLine> {
  const trial = limitCase.place(backend);
  try {
    await checkTrial(backend, trial);
    const schedule = quick ? { rounds: 1, roundMs: 1 } : {};
    return limitLine(
      limitCase,
      await medianMs(
        () => trial.run(),
        () => backend.synchronize(),
        schedule,
      ),
    );
  } finally {
    trial.free();
  }
}
