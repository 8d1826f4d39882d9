import type * as workerThreads from 'node:worker_threads';
import { download, upload } from '@concord/backend-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WasmBackend } from '../src/index.ts';

const threads = process.getBuiltinModule('node:worker_threads');
const { Worker: RealWorker } = threads;
/** Settle when the workers that were started in this test have ended. */
let ends: Array<Promise<unknown>>;

beforeEach(() => {
  ends = [];
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  Object.assign(threads, {
    Worker: class extends RealWorker {
      constructor(source: string | URL, options: workerThreads.WorkerOptions) {
        super(source, options);
        ends.push(new Promise((resolve) => this.once('exit', resolve)));
      }
    },
  });
});
afterEach(() => {
  vi.useRealTimers();
  Object.assign(threads, { Worker: RealWorker });
});

/** Scripts that are not this package's worker: one never comes to its messages, one sends others, one takes them and is silent. */
const SILENT = [
  'while (true) {}',
  'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {}); parentPort.postMessage(null); parentPort.postMessage("hello");',
  'import { parentPort } from "node:worker_threads"; parentPort.on("message", () => {});',
].map((script) => `data:text/javascript,${encodeURIComponent(script)}`);

describe.each([
  { mode: 'threads', threads: 2, ms: 20_000, detail: '2 of 2 workers did not answer within 20 s' },
  { mode: 'worker', threads: 1, ms: 10_000, detail: '1 of 1 workers did not answer within 10 s' },
] as const)('mode $mode, with workers that never answer', ({ ms, detail, ...options }) => {
  it.each(SILENT)('init rejects after its limit and leaves no worker: %s', async (workerUrl) => {
    const opening = WasmBackend.create({ ...options, workerUrl });
    let isSettled = false;
    const outcome = opening.catch((error: unknown) => error).finally(() => (isSettled = true));
    await vi.advanceTimersByTimeAsync(ms - 1);
    expect(isSettled).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    const hint = expect.stringMatching(/workerUrl.*Content Security Policy/) as string;
    expect(await outcome).toMatchObject({ code: 'BACKEND_UNAVAILABLE', reason: 'failed', detail, hint });
    await Promise.all(ends);
    expect(ends).toHaveLength(options.threads);
    expect(vi.getTimerCount()).toBe(0);
  });

  it('dispose during init ends the workers at once', async () => {
    const backend = new WasmBackend({ ...options, workerUrl: SILENT[0] });
    const opening = backend.init().catch((error: unknown) => error);
    await backend.dispose();
    expect(await opening).toMatchObject({ code: 'DISPOSED' });
    await Promise.all(ends);
    expect(ends).toHaveLength(options.threads);
    expect(vi.getTimerCount()).toBe(0);
  });
});

it('dispose while the workers of one mode are ended starts none of the next mode', async () => {
  const backend = new WasmBackend({ threads: 2, workerUrl: SILENT[2] });
  const opening = backend.init().catch((error: unknown) => error);
  vi.advanceTimersByTime(20_000);
  await backend.dispose();
  expect(await opening).toMatchObject({ code: 'DISPOSED' });
  await Promise.all(ends);
  expect(ends).toHaveLength(2);
});

it('without a mode of its own init goes on to the one without workers', async () => {
  const opening = WasmBackend.create({ threads: 2, workerUrl: SILENT[2] });
  await vi.advanceTimersByTimeAsync(20_000);
  await vi.waitFor(() => expect(ends).toHaveLength(3));
  await vi.advanceTimersByTimeAsync(10_000);
  await using backend = await opening;
  expect(backend.native.mode).toBe('inline');
  expect(backend.device.driver).toContain('no threads: 2 of 2 workers did not answer within 20 s; no worker: 1 of 1');
  await Promise.all(ends);
  expect(await download(backend, upload(backend, [5]), 1)).toEqual(Float32Array.of(5));
});

it('a caller that blocks for longer than the limit while the workers start finds them ready', async () => {
  const opening = WasmBackend.create({ mode: 'worker' });
  // All timers of now are late, before any message is taken.
  vi.runOnlyPendingTimers();
  await using backend = await opening;
  expect(backend.native.mode).toBe('worker');
});
