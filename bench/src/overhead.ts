import { type ComputeBackend, type DeviceInfo, type DevicePtr, upload } from '@concord/backend-core';
import { median } from '@concord/cli/bench';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import { row, table } from './table.ts';

/** The cost of a backend beside the work on the device, in microseconds, medians. */
export interface Overhead {
  /** JavaScript of one tiny op among many. */
  readonly queueMicros: number;
  /** The same until the device has done it. */
  readonly doneMicros: number;
  /** JavaScript of handing one op to the device. */
  readonly flushMicros: number;
  /** One op and the wait for it. */
  readonly roundTripMicros: number;
  /** Reading four bytes back from a device that has nothing else to do. */
  readonly readMicros: number;
  /** Present if the backend computes on the processor. */
  readonly background?: Background;
}

/** Opens a backend with its defaults: its device and the cost of an op; if `onCpu`, also the time that is left to the caller. */
export async function describeBackend(
  backend: ComputeBackend,
  quick: boolean,
  { onCpu = false }: { readonly onCpu?: boolean } = {},
): Promise<{ readonly device: DeviceInfo; readonly overhead: Overhead }> {
  await backend.init();
  const background = onCpu ? await measureBackground(backend, quick) : undefined;
  const overhead = { ...(await measureOverhead(backend, quick)), ...(background && { background }) };
  const { device } = backend;
  await backend.dispose();
  return { device, overhead };
}

/** Measures `backend`, which is open and idle, with ops on `n` elements. */
async function measureOverhead(backend: ComputeBackend, quick: boolean, n = 1024): Promise<Overhead> {
  const [ops, rounds, singles] = quick ? [10, 2, 2] : [1000, 15, 200];
  const input = upload(backend, new Float32Array(n));
  const output = upload(backend, new Float32Array(n));
  const run = (): void => backend.unary({ op: 'neg', n, input, output });
  const queued: number[] = [];
  const done: number[] = [];
  for (let round = 0; round < rounds; round++) {
    const start = performance.now();
    for (let i = 0; i < ops; i++) run();
    queued.push(microsSince(start) / ops);
    await backend.synchronize();
    done.push(microsSince(start) / ops);
  }
  const flushes: number[] = [];
  const trips: number[] = [];
  const reads: number[] = [];
  for (let i = 0; i < singles; i++) {
    run();
    const flushed = performance.now();
    backend.flush();
    flushes.push(microsSince(flushed));
    await backend.synchronize();
    const started = performance.now();
    run();
    await backend.synchronize();
    trips.push(microsSince(started));
    reads.push(await readMicros(backend, output));
  }
  for (const ptr of [input, output]) backend.free(ptr);
  return {
    queueMicros: median(queued),
    doneMicros: median(done),
    flushMicros: median(flushes),
    roundTripMicros: median(trips),
    readMicros: median(reads),
  };
}

/** The measurements as a Markdown table, or two. */
export function formatOverhead(overhead: Overhead): string {
  const { background } = overhead;
  const rows = [
    row('JavaScript of an op on 1,024 elements, one of 1,000', overhead.queueMicros.toFixed(1)),
    row('the same, until the device has done all', overhead.doneMicros.toFixed(1)),
    row('JavaScript of `flush` after one op', overhead.flushMicros.toFixed(1)),
    row('one op and `synchronize`', overhead.roundTripMicros.toFixed(1)),
    row('reading 4 bytes back', overhead.readMicros.toFixed(1)),
  ];
  const parts = ['### Cost of a tiny op', table(['', 'microseconds, median'], rows)];
  if (background !== undefined) {
    const product = `a product of ${background.productRows}, ${Math.round(background.productMs)} ms`;
    const kept = [
      row('CPU time of the process in two seconds without work', background.idleCpuMs.toFixed(2)),
      row(`longest wait of a timer of 1 ms during ${product}`, background.worstGapMs.toFixed(1)),
    ];
    parts.push('### What the caller keeps', table(['', 'milliseconds'], kept));
  }
  return parts.join('\n\n');
}

async function readMicros(backend: ComputeBackend, ptr: DevicePtr): Promise<number> {
  const start = performance.now();
  await backend.copyDtoh(new Float32Array(1), ptr);
  return microsSince(start);
}

function microsSince(start: number): number {
  return (performance.now() - start) * 1000;
}

/** The processor time that a backend on the processor leaves to the thread that called it. */
interface Background {
  /** CPU time of the process in two seconds without work, in milliseconds. */
  readonly idleCpuMs: number;
  /** A product of square matrices that takes about a second: their rows, and milliseconds until it is done. */
  readonly productRows: number;
  readonly productMs: number;
  /** The longest wait of a timer of one millisecond during a product, in milliseconds; the minimum over the products. */
  readonly worstGapMs: number;
}

const IDLE_MS = 2000;
const PRODUCT_MS = 1000;
/** Rows of the product that tells how many a second takes. */
const PROBE = 768;
/** Products of a second: whom the system lets wait in one of them is chance. */
const PRODUCTS = 3;

/** Measures `backend`, which is open and idle. Takes some seconds, unless it is `quick`. */
async function measureBackground(backend: ComputeBackend, quick: boolean): Promise<Background> {
  // Earlier work of the process, such as collecting garbage, is done by then.
  await sleep(quick ? 1 : 500);
  const before = process.cpuUsage();
  await sleep(quick ? 1 : IDLE_MS);
  const { user, system } = process.cpuUsage(before);
  await product(backend, PROBE / 8);
  const probe = quick ? PROBE / 8 : PROBE;
  // The second one is compiled.
  await product(backend, probe);
  const { productMs } = await product(backend, probe);
  const rows = quick ? probe : 64 * Math.round((probe * Math.cbrt(PRODUCT_MS / productMs)) / 64);
  const products: Awaited<ReturnType<typeof product>>[] = [];
  for (let i = 0; i < PRODUCTS; i++) products.push(await product(backend, rows));
  const [best] = products.sort((x, y) => x.worstGapMs - y.worstGapMs) as [(typeof products)[0]];
  return { idleCpuMs: (user + system) / 1000, productRows: rows, ...best };
}

async function product(backend: ComputeBackend, n: number): Promise<{ productMs: number; worstGapMs: number }> {
  const [a, b, c] = Array.from({ length: 3 }, () => backend.alloc(4 * n * n)) as [DevicePtr, DevicePtr, DevicePtr];
  for (const ptr of [a, b]) backend.fill(ptr, 0, 4 * n * n);
  await backend.synchronize();
  const gaps = monitorEventLoopDelay({ resolution: 1 });
  gaps.enable();
  const start = performance.now();
  backend.gemm({ m: n, n, k: n, a, b, c });
  await backend.synchronize();
  const productMs = performance.now() - start;
  // The last wait ends with the next sample.
  await sleep(2);
  gaps.disable();
  for (const ptr of [a, b, c]) backend.free(ptr);
  return { productMs, worstGapMs: gaps.max / 1e6 };
}
