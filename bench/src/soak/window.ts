import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { ComputeBackend } from '@concord/backend-core';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { median } from '@concord/cli/bench';
import { row, table } from '../table.ts';

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
