import { writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { drawAxes, html, linearAxis, linePath, plotFile } from '@concord/cli/bench';
import { LevelZeroBackend } from '@concord/backend-levelzero';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { slugOf, useDevice, useLevelZeroCpu } from './device.ts';
import { oneOf, positive } from './options.ts';
import { RESULTS, saveText } from './results.ts';
import { Churn } from './soak/churn.ts';
import { findLeaks, formatWindows, quarters, type SoakWindow, windowOf } from './soak/window.ts';

const WINDOWS = 20;
/** Ops at the end of each window that are compared with the oracle, and not timed. */
const CHECKED = 10;
const FULL_OPS = 20_000;
/** Sooner there are still kernels that run for the first time. */
const LEAST_JUDGED = 10_000;

/**
 * Runs random ops of all kinds, each with its own allocations, and prints time and memory in 20 windows. A run of 20,000 ops
 * or more is drawn to `results/soak-<device>.svg`. Ctrl-C ends it early with the results so far. Options: see the help in main.ts.
 *
 * @returns whether memory did not grow; fewer than 10,000 ops do not tell
 */
export async function benchSoak(args: readonly string[]): Promise<boolean> {
  const { values } = parseArgs({
    args: [...args],
    options: {
      backend: { type: 'string', default: 'webgpu' },
      device: { type: 'string' },
      ops: { type: 'string', default: `${FULL_OPS}` },
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
  const name = `soak-${backend.name === 'webgpu' ? slugOf(device) : backend.name}`;
  if (done >= FULL_OPS) saveText(new URL(`${name}.svg`, RESULTS), drawWindows(`${backend.name} on ${device}`, windows));
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

/** Curves below each other over the ops, each from zero. */
export function drawWindows(heading: string, windows: readonly SoakWindow[]): string {
  const mib = (measure: 'deviceBytes' | 'rssBytes' | 'heapBytes'): number[] =>
    windows.map((window) => window[measure] / 2 ** 20);
  const panels: readonly (readonly [string, readonly number[]])[] = [
    ['microseconds per op', windows.map((window) => window.microsPerOp)],
    ['device memory, MiB', mib('deviceBytes')],
    ['process memory, MiB', mib('rssBytes')],
    ['JavaScript heap, MiB', mib('heapBytes')],
  ];
  const ops = windows.map((window) => window.ops);
  const content = panels.map(([title, values], i) => {
    const top = 80 + 170 * i;
    const x = linearAxis([0, ops.at(-1) ?? 1], [64, 740], i === panels.length - 1 ? 'ops' : '');
    const y = linearAxis([0, Math.max(...values, 1e-9)], [top + 110, top], '', 3);
    const path = linePath(
      x,
      y,
      values.map((value, window) => [ops[window] as number, value]),
    );
    return html`<text x="64" y="${top - 10}">${title}</text>${drawAxes(x, y)}
      <path d="${path}" stroke="#0072b2" stroke-width="1.75" />`;
  });
  return plotFile(760, 80 + 170 * panels.length, heading, '', html`${content}`);
}
