import { once } from 'node:events';
import type { ComputeBackend } from '@concord/backend-core';
import { type CommandContext, EXIT, openBackend } from '@concord/example-command';
import { type Job, Worker } from 'bullmq';
import { openCorpus } from './corpus.ts';
import { RunStore, type TileJob } from './run-store.ts';
import { TileComputer } from './tile-computer.ts';

/**
 * Options of a worker: the MiB of the device for shards, the seconds after which others get the tile of a worker that is gone,
 * and the corpus if it is not where `build` found it.
 */
export type WorkerOptions = Readonly<{ redis: string; name: string; memory: number; lock: number }> &
  Readonly<{ backend?: readonly string[]; corpus?: string }>;

/** Computes tiles, of one run after the other, until it is stopped. An error ends it, and BullMQ has another try the tile. */
export async function work(options: WorkerOptions, { stderr, signal }: CommandContext): Promise<number> {
  const { backend: prefer, corpus, memory } = options;
  const store = await RunStore.open(options.redis, options.name);
  const [stopped, failed] = [new AbortController(), new AbortController()];
  // By Kubernetes, or by the end of the process that started it.
  process.once('SIGTERM', () => stopped.abort()).once('disconnect', () => stopped.abort());
  if (process.send && !process.connected) stopped.abort(); // it ended before that
  let worker: Worker<TileJob, string> | undefined;
  let backend: ComputeBackend | undefined;
  let computer: TileComputer | undefined;
  let current: string | undefined;
  const compute = async ({ data: { run: id, tile } }: Job<TileJob, string>): Promise<string> => {
    if (computer === undefined || id !== current) {
      const run = await store.run();
      if (run?.id !== id) return ''; // of a run that was dropped: no one reads it
      await computer?.dispose();
      const file = await openCorpus(corpus ?? run.corpus);
      computer = new TileComputer(run.plan, file, backend as ComputeBackend, memory * 2 ** 20);
      current = id;
    }
    const { scores, vectors } = await computer.compute(tile);
    return Buffer.concat([Buffer.from(scores.buffer), Buffer.from(vectors.buffer)]).toString('base64');
  };
  const fail = (error: unknown): Promise<never> => (failed.abort(error), Promise.reject(error));
  try {
    ({ backend } = await openBackend(prefer, [{ op: 'gemm' }, { op: 'topK' }]));
    worker = new Worker<TileJob, string>('tiles', (job) => compute(job).catch(fail), {
      connection: store.redis,
      prefix: store.prefix,
      name: backend.name,
      lockDuration: options.lock * 1000,
      stalledInterval: options.lock * 1000,
      maxStalledCount: 10, // a tile that takes down each worker is not tried for ever
    });
    // Connections are opened again; other errors are of locks that were lost.
    worker.on('error', ({ code, message }: NodeJS.ErrnoException) => {
      if (!/ECONN|EPIPE|closed|LOADING/.test(`${code} ${message}`)) stderr.write(`worker ${process.pid}: ${message}\n`);
    });
    stderr.write(`worker ${process.pid} on ${backend.name}: ${backend.device.name} [${backend.device.type}]\n`);
    const ended = AbortSignal.any([signal, stopped.signal, failed.signal]);
    if (!ended.aborted) await once(ended, 'abort');
  } finally {
    // The tile under way is finished, but a Redis that is gone is waited for only so long.
    const gone = new Promise<void>((resolve) => setInterval(() => store.redis.status === 'ready' || resolve(), 3000));
    await Promise.race([worker?.close(), gone]);
    store.redis.disconnect();
    await computer?.dispose();
    await backend?.dispose();
    if (process.connected) process.disconnect(); // the channel would keep the process
  }
  failed.signal.throwIfAborted();
  return EXIT.ok;
}
