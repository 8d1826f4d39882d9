import { parseArgs } from 'node:util';
import { download, offsetPtr } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { useDevice } from './device.ts';
import { kernelCases } from './kernels/cases.ts';
import { GpuTimer } from './kernels/gpu-time.ts';
import type { KernelCase } from './kernels/kernel-case.ts';
import { placeCase } from './kernels/place-case.ts';
import { type KernelLine, compareKernels } from './kernels/report.ts';
import { sampleIndices } from './limits/sample.ts';
import { readTorch } from './limits/torch.ts';
import { CASE_OPTIONS } from './options.ts';

/** Elements of each output that are compared with float64. */
const SAMPLES = 48;

/**
 * `[--quick] [--device D] [--only OP,...] [--case NAME] [--force ID,...] [--torch FILE]`: times `run` with the kernels that
 * PyTorch is timed with on the same device, by the device's clock, and prints a JSON line for each; with what
 * `limits/torch_kernels.py` printed a Markdown table of both.
 *
 * @returns whether every case ran and was right
 */
export async function benchKernels(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      ...CASE_OPTIONS,
      device: { type: 'string' },
      force: { type: 'string', default: '' },
      torch: { type: 'string' },
    },
  });
  const only = values.only?.split(',');
  const cases = kernelCases(values.quick).filter(
    ({ op, name }) => (only === undefined || only.includes(op)) && (values.case === undefined || values.case === name),
  );
  await useDevice(values.device);
  const forced = values.force.split(',').filter(Boolean);
  const theirs = values.torch === undefined ? undefined : readTorch(values.torch).lines;
  const lines: KernelLine[] = [];
  let failures = 0;
  for (const kernelCase of cases) {
    // What has failed in a backend's work stays failed: each case has its own.
    const backend = new WebGpuBackend();
    await backend.init();
    if (forced.length > 0) backend.native.tuning.force(forced);
    try {
      const line = await timeCase(backend, kernelCase, values.quick);
      lines.push(line);
      console.log(JSON.stringify(line));
    } catch (error) {
      failures++;
      console.log(JSON.stringify({ op: kernelCase.op, case: kernelCase.name, failed: (error as Error).message }));
    }
    await backend.dispose();
  }
  if (theirs !== undefined) console.log(`\n${compareKernels(lines, theirs)}`);
  if (failures > 0) console.error(`${failures} of ${cases.length} cases failed`);
  return failures === 0;
}

async function timeCase(backend: WebGpuBackend, kernelCase: KernelCase, quick: boolean): Promise<KernelLine> {
  const placed = placeCase(backend, kernelCase);
  const timer = new GpuTimer(backend);
  try {
    placed.run();
    await checkOutput(backend, kernelCase, placed);
    // Before the timer's own work runs.
    const variants = Object.keys(backend.variants().runs).join(' ');
    const ms = await timer.medianMs(() => placed.run(), quick ? { rounds: 1, roundMs: 1 } : { rounds: 7, roundMs: 20 });
    const tbps = Number((kernelCase.bytes / ms / 1e9).toFixed(3));
    return { op: kernelCase.op, case: kernelCase.name, ms: Number(ms.toFixed(5)), tbps, variants };
  } finally {
    timer.destroy();
    placed.free();
  }
}

async function checkOutput(
  backend: WebGpuBackend,
  { output, expected }: KernelCase,
  placed: ReturnType<typeof placeCase>,
): Promise<void> {
  const bytes = output.dtype === 'f16' ? 2 : 4;
  const dtype = output.dtype === 'f16' ? 'f16' : 'f32';
  for (const index of sampleIndices(output.length, SAMPLES)) {
    const got = await entryAt(backend, offsetPtr(placed.output, index * bytes), output.dtype === 'u32' ? 'u32' : dtype);
    const { value, tolerance } = expected(placed.read, index);
    if (!(Math.abs(got - value) <= tolerance)) throw new Error(`element ${index} is ${got}, not ${value}`);
  }
}

async function entryAt(
  backend: WebGpuBackend,
  ptr: Parameters<typeof offsetPtr>[0],
  dtype: 'f32' | 'f16' | 'u32',
): Promise<number> {
  if (dtype !== 'u32') return (await download(backend, ptr, 1, { dtype }))[0] as number;
  const word = new Uint32Array(1);
  await backend.copyDtoh(word, ptr);
  return word[0] as number;
}
