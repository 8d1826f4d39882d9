import type * as workerThreads from 'node:worker_threads';
import { download, upload } from '@concord/backend-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { WasmBackend } from '../src/index.ts';

/** The workers that were started in this test. */
let started: workerThreads.Worker[];
const threads = process.getBuiltinModule('node:worker_threads');
const { Worker: RealWorker } = threads;

beforeEach(() => {
  started = [];
  replaceWorker(
    class extends RealWorker {
      constructor(source: string | URL, options: workerThreads.WorkerOptions) {
        super(source, options);
        started.push(this);
      }
    },
  );
});
afterEach(() => {
  replaceWorker(RealWorker);
  vi.restoreAllMocks();
});

function replaceWorker(worker: typeof RealWorker): void {
  Object.assign(threads, { Worker: worker });
}

/** Work of some tenths of a second. */
function keepBusy(backend: WasmBackend): void {
  const n = 2 ** 22;
  const x = backend.alloc(4 * n);
  for (let i = 0; i < 30; i++) backend.unary({ op: 'exp', n, input: x, output: x });
}

async function expectWorks(backend: WasmBackend): Promise<void> {
  const x = upload(backend, [1, 2, 3, 4]);
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  expect(await download(backend, x, 4)).toEqual(Float32Array.of(-1, -2, -3, -4));
}

describe.each(['threads', 'worker'] as const)('mode %s', (mode) => {
  it.each([
    ['during a wait', true],
    ['while nothing is to be done', false],
  ])('a worker that is gone %s: the device is lost, and a new object works', async (_, isBusy) => {
    const backend = await WasmBackend.create({ mode });
    await expectWorks(backend);
    if (isBusy) keepBusy(backend);
    const wait = isBusy ? backend.synchronize().catch((error: unknown) => error) : undefined;
    await started[0]?.terminate();
    const message = expect.stringMatching(/^worker 1 of \d+ is gone: it ended with exit code 1$/) as string;
    expect(await backend.lost).toEqual({ reason: 'device-lost', message });
    if (isBusy) expect(await wait).toMatchObject({ code: 'DEVICE_LOST', detail: message });
    expect(() => backend.alloc(4)).toThrow(expect.objectContaining({ code: 'DEVICE_LOST' }));
    await expect(backend.synchronize()).rejects.toMatchObject({ code: 'DEVICE_LOST' });
    await backend.dispose();
    await using next = await WasmBackend.create({ mode });
    await expectWorks(next);
  });

  it('dispose with work pending ends the wait, and the workers', async () => {
    const backend = await WasmBackend.create({ mode });
    keepBusy(backend);
    const wait = backend.synchronize().catch((error: unknown) => error);
    const ended = Promise.all(started.map((worker) => new Promise((resolve) => worker.on('exit', resolve))));
    await backend.dispose();
    expect(await wait).toMatchObject({ code: 'DISPOSED' });
    expect(await backend.lost).toMatchObject({ reason: 'disposed' });
    expect((await ended).length).toBeGreaterThan(0);
  });

  it('a wait ends by a timeout or a signal, the work goes on', async () => {
    await using backend = await WasmBackend.create({ mode });
    keepBusy(backend);
    await expect(backend.synchronize({ timeoutMs: 1 })).rejects.toMatchObject({ code: 'DEVICE_ERROR' });
    const controller = new AbortController();
    const aborted = backend.synchronize({ signal: controller.signal });
    controller.abort(new Error('enough'));
    await expect(aborted).rejects.toThrow('enough');
    await backend.synchronize();
    await expectWorks(backend);
  });

  it('workers that do not start are said to be the reason', async () => {
    replaceWorker(
      class extends RealWorker {
        constructor(_: string | URL, options: workerThreads.WorkerOptions) {
          super('throw new Error("not here")', options);
        }
      },
    );
    const detail = expect.stringMatching(/^worker \d of \d+ did not start: Error: not here$/) as string;
    await expect(WasmBackend.create({ mode })).rejects.toMatchObject({ code: 'BACKEND_UNAVAILABLE', detail });
    // Without a mode of the caller's there is one that needs none.
    await using backend = await WasmBackend.create();
    expect(backend.native.mode).toBe('inline');
    expect(backend.device.driver).toMatch(
      /; no threads: worker \d of \d+ did not start: Error: not here; no worker: worker 1/,
    );
    await expectWorks(backend);
  });
});

it.each(['is terminated', 'throws', 'exits'])(
  'a caller that blocks while a worker %s gets DEVICE_LOST, and so does every later call',
  async (how) => {
    const sources: Record<string, string> = {
      throws: 'throw new Error("by itself")',
      exits: 'process.exit(3)',
    };
    // Says that it is ready, and ends a little later, while the caller blocks.
    const source = `const { parentPort } = require('node:worker_threads');
      parentPort.once('message', () => {
        parentPort.postMessage({ kind: 'ready' });
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
        ${sources[how]};
      });`;
    if (how !== 'is terminated') {
      replaceWorker(
        class extends RealWorker {
          constructor(_: string | URL, options: workerThreads.WorkerOptions) {
            super(source, options);
            started.push(this);
          }
        },
      );
    }
    const backend = await WasmBackend.create({ mode: 'threads', threads: 1 });
    const big = backend.alloc(2 ** 20);
    if (how === 'is terminated') void started[0]?.terminate();
    const fill = (): void => {
      for (let i = 0; i < 1100; i++) backend.fill(big, 1, 2 ** 20);
    };
    const isLost = expect.objectContaining({ code: 'DEVICE_LOST' }) as Error;
    const begin = performance.now();
    expect(fill).toThrow(isLost);
    expect(performance.now() - begin).toBeLessThan(20_000);
    expect(fill).toThrow(isLost);
    const message = 'worker 1 of 1 is gone: it takes no more messages';
    expect(await backend.lost).toEqual({ reason: 'device-lost', message });
    await backend.dispose();
  },
);

it.each(['threads', 'inline'] as const)(
  'memory that does not grow is OUT_OF_MEMORY, and not the end, in mode %s',
  async (mode) => {
    await using backend = await WasmBackend.create({ mode });
    const grow = vi.spyOn(WebAssembly.Memory.prototype, 'grow').mockImplementation(() => {
      throw new RangeError('no');
    });
    const error = expect.objectContaining({ code: 'OUT_OF_MEMORY', requestedBytes: 2 ** 28 }) as Error;
    expect(() => backend.alloc(2 ** 28)).toThrow(error);
    grow.mockRestore();
    backend.free(backend.alloc(2 ** 28));
    await expectWorks(backend);
  },
);

it('more than the address space has is OUT_OF_MEMORY in every mode', async () => {
  for (const mode of ['threads', 'worker', 'inline'] as const) {
    await using backend = await WasmBackend.create({ mode });
    const half = backend.alloc(2 ** 31);
    expect(() => backend.alloc(2 ** 31)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
    backend.free(half);
    await expectWorks(backend);
  }
});

it('a read and a write in the wrong order would show: memory is freed and written again after queued work', async () => {
  await using backend = await WasmBackend.create();
  const reads: Array<Promise<Float32Array>> = [];
  for (let turn = 0; turn < 1000; turn++) {
    const x = upload(backend, new Float32Array(1000).fill(turn));
    backend.unary({ op: 'neg', n: 1000, input: x, output: x });
    reads.push(download(backend, x, 1000));
    backend.free(x);
  }
  for (const [turn, read] of reads.entries()) expect(new Set(await read)).toEqual(new Set([-turn]));
  // Memory has not grown beyond the depth of the queue.
  expect(backend.memory().pooledBytes).toBeLessThan(2 ** 24);
});

it('20,000 ops leave memory as it was', async () => {
  await using backend = await WasmBackend.create();
  const [a, b, c] = [0, 1, 2].map(() => upload(backend, new Float32Array(32 * 32))) as [never, never, never];
  const work = async (count: number): Promise<number> => {
    for (let i = 0; i < count; i++) {
      backend.gemm({ m: 32, n: 32, k: 32, a, b, c });
      const x = backend.alloc(4096 * (1 + (i % 7)));
      backend.fill(x, 0, 4096);
      backend.free(x);
      if (i % 500 === 0) await backend.synchronize();
    }
    await backend.synchronize();
    return backend.memory().pooledBytes;
  };
  const before = await work(2000);
  expect(await work(8000)).toBe(before);
});
