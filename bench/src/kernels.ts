import { parseArgs } from 'node:util';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { checkEntries, placeWork } from '@concord/cli/bench';
import { useDevice } from './device.ts';
import { type KernelCase, kernelCases } from './kernels/cases.ts';
import { GpuTimer } from './kernels/gpu-time.ts';
import { readTorch, type TheirLine } from './limits/torch.ts';
import { CASE_OPTIONS } from './options.ts';
import { row, table } from './table.ts';

/** A line of `bench kernels`. */
interface KernelLine {
  readonly op: string;
  readonly case: string;
  readonly ms: number;
  /** Terabytes a second, each operand counted once. */
  readonly tbps: number;
  /** Ids of the variants that ran. */
  readonly variants: string;
}

/**
 * Times `run` with the kernels that PyTorch is timed with on the same device, by the device's clock, and prints a JSON line
 * for each; with the output of `limits/torch_kernels.py` a Markdown table of both. Options: see the help in main.ts.
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

async function timeCase(
  backend: WebGpuBackend,
  { op, name, benchCase }: KernelCase,
  quick: boolean,
): Promise<KernelLine> {
  const work = benchCase.prepare();
  const placed = placeWork(work, backend);
  const timer = new GpuTimer(backend);
  try {
    await placed.call();
    const wrong = await checkEntries(work)((indices) => placed.entries(indices));
    if (wrong !== undefined) throw new Error(wrong);
    // Before the timer's own work runs.
    const variants = Object.keys(backend.variants().runs).join(' ');
    const schedule = quick ? { rounds: 1, roundMs: 1 } : { rounds: 7, roundMs: 20 };
    const ms = await timer.medianMs(() => void placed.call(), schedule);
    const tbps = Number((benchCase.bytes / ms / 1e9).toFixed(3));
    return { op, case: name, ms: Number(ms.toFixed(5)), tbps, variants };
  } finally {
    timer.destroy();
    placed.free();
  }
}

type Torch = TheirLine & { readonly compiled_ms?: number };

/** A Markdown table of our times beside PyTorch's, eager and compiled, for the cases that both have. */
function compareKernels(ours: readonly KernelLine[], theirs: readonly TheirLine[]): string {
  const found = new Map(theirs.map((line) => [`${line.op} ${line.case}`, line as Torch]));
  const ratio = (ms: number | undefined, own: number): string => (ms === undefined ? '–' : `${(ms / own).toFixed(2)}x`);
  const rows = ours.map((line) => {
    const other = found.get(`${line.op} ${line.case}`);
    const ratios = [ratio(other?.ms, line.ms), ratio(other?.compiled_ms, line.ms)];
    return row(line.op, line.case, line.ms.toFixed(4), line.tbps.toFixed(2), ...ratios, line.variants);
  });
  return table(['kernel', 'case', 'ms', 'TB/s', 'of PyTorch eager', 'of PyTorch compiled', 'variants'], rows);
}
