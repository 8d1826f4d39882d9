import { parseArgs } from 'node:util';
import type { DevicePtr } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { checkEntries, findCallsPerRound, median, placeWork } from '@concord/cli/bench';
import { useDevice } from './device.ts';
import { type KernelCase, kernelCases } from './kernels/cases.ts';
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

/** The length of a measurement. */
export interface GpuSchedule {
  /** Rounds that count. */
  readonly rounds: number;
  /** Minimum length of a round in milliseconds. */
  readonly roundMs: number;
}

const MAX_CALLS = 400;
/** Work that the device does while the calls to be timed are encoded: a sum of this many floats, which an H200 doubles in 0.12 ms. */
const BUSY_FLOATS = 2 ** 26;
/** Maximum time that JavaScript takes for a call, and minimum time of the busy work, in milliseconds. */
const ENCODE_MS = 0.02;
const BUSY_MS = 0.1;
/** WebGPU's names are not there in Node. */
const USAGE = { mapRead: 0x1, copySrc: 0x4, copyDst: 0x8, queryResolve: 0x200 };
const MAP_READ = 0x1;

/**
 * Milliseconds that the device takes for a call when many follow each other: timestamps before the first and after the
 * last one, medians over rounds.
 */
export class GpuTimer {
  readonly #backend: WebGpuBackend;
  readonly #queries: GPUQuerySet;
  readonly #resolved: GPUBuffer;
  readonly #staging: GPUBuffer;
  readonly #busy: DevicePtr;
  readonly #busyFloats: number;

  constructor(backend: WebGpuBackend) {
    const { device } = backend.native;
    this.#backend = backend;
    this.#queries = device.createQuerySet({ type: 'timestamp', count: 2 });
    this.#resolved = device.createBuffer({ size: 16, usage: USAGE.queryResolve | USAGE.copySrc });
    this.#staging = device.createBuffer({ size: 16, usage: USAGE.mapRead | USAGE.copyDst });
    this.#busyFloats = backend.device.type === 'software' ? 1 : BUSY_FLOATS;
    this.#busy = backend.alloc(4 * this.#busyFloats);
    backend.fill(this.#busy, 0, 4 * this.#busyFloats);
  }

  async medianMs(run: () => void, { rounds, roundMs }: GpuSchedule): Promise<number> {
    const time = (calls: number): Promise<number> => this.#time(run, calls);
    const { calls } = await findCallsPerRound(time, { roundMs, maxCalls: MAX_CALLS });
    const times: number[] = [];
    for (let round = 0; round < rounds; round++) times.push((await time(calls)) / calls);
    return median(times);
  }

  destroy(): void {
    this.#backend.free(this.#busy);
    this.#queries.destroy();
    this.#resolved.destroy();
    this.#staging.destroy();
  }

  async #time(run: () => void, calls: number): Promise<number> {
    const { native } = this.#backend;
    // Else a short call is timed by how fast it is encoded.
    const [n, a] = [this.#busyFloats, this.#busy];
    const busyCalls = Math.ceil((calls * ENCODE_MS) / BUSY_MS);
    for (let call = 0; call < busyCalls; call++) this.#backend.binary({ op: 'add', n, a, b: a, output: a });
    native.encode((encoder) => this.#stamp(encoder, 'beginningOfPassWriteIndex', 0));
    for (let call = 0; call < calls; call++) run();
    native.encode((encoder) => {
      this.#stamp(encoder, 'endOfPassWriteIndex', 1);
      encoder.resolveQuerySet(this.#queries, 0, 2, this.#resolved, 0);
      encoder.copyBufferToBuffer(this.#resolved, 0, this.#staging, 0, 16);
    });
    await this.#staging.mapAsync(MAP_READ);
    const [start, end] = new BigUint64Array(this.#staging.getMappedRange().slice(0)) as unknown as [bigint, bigint];
    this.#staging.unmap();
    return Number(end - start) / 1e6;
  }

  #stamp(encoder: GPUCommandEncoder, place: 'beginningOfPassWriteIndex' | 'endOfPassWriteIndex', index: number): void {
    encoder.beginComputePass({ timestampWrites: { querySet: this.#queries, [place]: index } }).end();
  }
}
