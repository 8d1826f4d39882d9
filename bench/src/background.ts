import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { ComputeBackend, DevicePtr } from '@concord/backend-core';

/** The processor time that a backend on the processor leaves to the thread that called it. */
export interface Background {
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
export async function measureBackground(backend: ComputeBackend, quick: boolean): Promise<Background> {
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
