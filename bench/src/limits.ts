import { readFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { openDawn } from './dawn.ts';
import { useDevice } from './device.ts';
import { limitCases } from './limits/cases.ts';
import { checkTrial } from './limits/check-trial.ts';
import type { LimitCase } from './limits/limit-case.ts';
import { medianMs } from './limits/median-ms.ts';
import { compareLines, type LimitLine, limitLine, parseLines } from './limits/report.ts';

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
      quick: { type: 'boolean', default: false },
      device: { type: 'string' },
      only: { type: 'string' },
      case: { type: 'string' },
      torch: { type: 'string' },
      enable: { type: 'string', default: '' },
    },
  });
  const theirs = values.torch === undefined ? undefined : parseLines(readFileSync(values.torch, 'utf8'));
  const only = values.only?.split(',');
  const cases = limitCases(values.quick)
    .filter(({ op }) => only?.includes(op) ?? true)
    .filter(({ name }) => values.case === undefined || name === values.case);
  if (cases.length === 0) throw new Error('no case has that op and name');

  await useDevice(values.device);
  const gpu = await openDawn(values.enable.split(',').filter(Boolean));
  const open = async (): Promise<WebGpuBackend> => {
    const backend = new WebGpuBackend({ gpu });
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
