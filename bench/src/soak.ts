import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { median } from '@concord/cli/bench';
import { useDevice, useLevelZeroCpu } from './device.ts';
import { oneOf, positive } from './options.ts';
import { Churn } from './soak/churn.ts';
import { row, table } from './table.ts';

const WINDOWS = 20;
/** Ops at the end of each window that are compared with the oracle, and not timed. */
const CHECKED = 10;
/** Sooner there are still kernels that run for the first time. */
const LEAST_JUDGED = 10_000;

/**
 * Runs random ops of all kinds, each with its own allocations, and prints time and memory in 20 windows. Ctrl-C ends it early with the results so far. Options: see the help in main.ts.
 *
 * @returns whether memory did not grow; fewer than 10,000 ops do not tell
 */
export async function benchSoak(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'webgpu' },
      device: { type: 'string' },
      ops: { type: 'string', default: '20000' },
      seed: { type: 'string', default: '1' },
      json: { type: 'string' },
    },
  });
  const [ops, seed] = [positive('--ops', values.ops), positive('--seed', values.seed)];
  const backend = await open(values.backend, values.device);
  const device = backend.device.name;
  console.log(`${backend.name} on ${device}, ${ops} ops, seed ${seed}\n`);
  const { windows, seconds } = await soak(backend, ops, seed);
  await backend.dispose();

  console.log(`${formatWindows(windows)}\n`);
  const done = windows.at(-1)?.ops ?? 0;
  const leaks = done < LEAST_JUDGED ? [] : findLeaks(windows);
  const verdict = done < LEAST_JUDGED ? 'too few to judge memory by' : leaks.join(', ') || 'memory did not grow';
  console.log(`${done} ops in ${seconds.toFixed(0)} s; ${verdict}`);
  if (windows.length >= 4) {
    const { second, last } = quarters(windows, 'microsPerOp');
    console.log(`last quarter against second: time per op ${(last / second).toFixed(2)}x`);
  }
  if (values.json !== undefined) {
    const report = { backend: backend.name, device, ops: done, seed, windows, leaks };
    writeFileSync(values.json, `${JSON.stringify(report, undefined, 2)}\n`);
  }
  return leaks.length === 0;
}

async function soak(
  backend: ComputeBackend,
  ops: number,
  seed: number,
): Promise<{ windows: SoakWindow[]; seconds: number }> {
  let isStopped = false;
  const stop = (): void => {
    isStopped = true;
  };
  process.once('SIGINT', stop);
  const churn = new Churn(backend, seed);
  const windows: SoakWindow[] = [];
  const began = performance.now();
  for (let window = 0, done = 0; window < WINDOWS && !isStopped; window++) {
    const count = Math.round((ops * (window + 1)) / WINDOWS) - done;
    const start = performance.now();
    const ran = await churn.run(count, () => isStopped);
    const micros = (performance.now() - start) * 1000;
    done += ran;
    if (ran > 0) windows.push(windowOf(backend, done, micros / ran));
    for (let i = 0; i < CHECKED && !isStopped; i++) await churn.check();
  }
  process.off('SIGINT', stop);
  churn.end();
  return { windows, seconds: (performance.now() - began) / 1000 };
}

async function open(name: string, device: string | undefined): Promise<ComputeBackend> {
  const which = oneOf('--backend', name, ['webgpu', 'level-zero', 'cpu']);
  if (which === 'webgpu') await useDevice(device);
  if (which === 'level-zero' && device !== 'system') await useLevelZeroCpu();
  const backend = { webgpu: WebGpuBackend, 'level-zero': LevelZeroBackend, cpu: CpuBackend }[which];
  const opened = new backend();
  await opened.init();
  return opened;
}

/** The state of things after some of the ops. */
export interface SoakWindow {
  /** Ops since the start. */
  readonly ops: number;
  readonly microsPerOp: number;
  /** Allocated on the device, with memory kept for reuse. */
  readonly deviceBytes: number;
  readonly rssBytes: number;
  readonly heapBytes: number;
  /** Resources that would keep the process alive: timers, requests, open files. */
  readonly handles: number;
}

// Garbage is no leak. Only this flag provides `gc`, and only in contexts made after it was set.
setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

/** Reads the counters of now. */
export function windowOf(backend: ComputeBackend, ops: number, microsPerOp: number): SoakWindow {
  collectGarbage();
  const { inUseBytes, pooledBytes } = backend.memory();
  const { rss, heapUsed } = process.memoryUsage();
  return {
    ops,
    microsPerOp,
    deviceBytes: backend instanceof WebGpuBackend ? backend.native.memory().allocatedBytes : inUseBytes + pooledBytes,
    rssBytes: rss,
    heapBytes: heapUsed,
    handles: process.getActiveResourcesInfo().length,
  };
}

/** The windows as a Markdown table. */
export function formatWindows(windows: readonly SoakWindow[]): string {
  const mib = (bytes: number): string => (bytes / 2 ** 20).toFixed(1);
  const rows = windows.map(({ ops, microsPerOp, deviceBytes, rssBytes, heapBytes, handles }) =>
    row(`${ops}`, microsPerOp.toFixed(0), mib(deviceBytes), mib(rssBytes), mib(heapBytes), `${handles}`),
  );
  return table(['ops', 'us per op', 'device MiB', 'process MiB', 'heap MiB', 'handles'], rows);
}

/** Medians of a measure in the second and the last quarter; the first is for warming up. */
export function quarters(
  windows: readonly SoakWindow[],
  measure: Exclude<keyof SoakWindow, 'ops'>,
): { second: number; last: number } {
  const quarter = Math.floor(windows.length / 4);
  const of = (some: readonly SoakWindow[]): number => median(some.map((window) => window[measure]));
  return { second: of(windows.slice(quarter, 2 * quarter)), last: of(windows.slice(-quarter)) };
}

/** Memory that grew by more than both between the second and the last quarter is leaking. */
const MOST_GROWTH = 1.25;
const MOST_BYTES = 2 ** 20;

/** Names the counters that grow and by how much; nothing for fewer than four windows. */
export function findLeaks(windows: readonly SoakWindow[]): string[] {
  if (windows.length < 4) return [];
  const names = { deviceBytes: 'device memory', rssBytes: 'process memory', heapBytes: 'heap' } as const;
  return Object.entries(names).flatMap(([measure, name]) => {
    const { second, last } = quarters(windows, measure as keyof typeof names);
    if (last <= MOST_GROWTH * second || last <= second + MOST_BYTES) return [];
    return [`${name} grew by ${((last / second - 1) * 100).toFixed(0)} %`];
  });
}
