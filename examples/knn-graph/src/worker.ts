import { once } from 'node:events';
import type { ComputeBackend } from '@concord/backend-core';
import { type CommandContext, EXIT, openBackend, UserError } from '@concord/example-command';
import { type Job, Worker } from 'bullmq';
import { openCorpus } from './corpus.ts';
import { RunStore, type TileJob } from './run-store.ts';
import { TileComputer } from './tile-computer.ts';

/** Options of a worker. */
export interface WorkerOptions {
  readonly redis: string;
  readonly name: string;
  readonly backend?: readonly string[];
  /** If the file is not where `build` found it. */
  readonly corpus?: string;
  /** MiB of the device for shards. */
  readonly memory: number;
  /** Seconds after which others get the tile of a worker that is gone. */
  readonly lock: number;
}

/** Computes tiles, of one run after the other, until it is stopped. An error ends it, and BullMQ has another try the tile. */
export async function work(options: WorkerOptions, { stderr, signal }: CommandContext): Promise<number> {
  const { backend: prefer, corpus, memory } = options;
  const store = await RunStore.open(options.redis, options.name);
  const [stopped, failed] = [new AbortController(), new AbortController()];
  // By Kubernetes, or by the end of the process that started it.
  process.once('SIGTERM', () => stopped.abort()).once('disconnect', () => stopped.abort());
  let worker: Worker<TileJob, string> | undefined;
  let backend: ComputeBackend | undefined;
  let computer: TileComputer | undefined;
  let current: string | undefined;
  const compute = async ({ data: { run: id, tile } }: Job<TileJob, string>): Promise<string> => {
    if (computer === undefined || id !== current) {
      await computer?.dispose();
      const run = await store.run();
      if (run?.id !== id) throw new UserError('OTHER_RUN', 'the graph that this tile is of was dropped');
      const file = await openCorpus(corpus ?? run.corpus);
      computer = new TileComputer(run.plan, file, backend as ComputeBackend, memory * 2 ** 20);
      current = id;
    }
    const { scores, vectors } = await computer.compute(tile);
    return Buffer.concat([Buffer.from(scores.buffer), Buffer.from(vectors.buffer)]).toString('base64');
  };
  const computeOrEnd = (job: Job<TileJob, string>): Promise<string> =>
    compute(job).catch((error: unknown) => {
      failed.abort(error);
      throw error;
    });
  try {
    const require = [{ op: 'gemm' }, { op: 'topK' }] as const;
    ({ backend } = await openBackend(prefer, require));
    worker = new Worker<TileJob, string>('tiles', computeOrEnd, {
      connection: store.redis,
      prefix: store.prefix,
      name: backend.name,
      lockDuration: options.lock * 1000,
      stalledInterval: options.lock * 1000,
      // A tile that takes down each worker is not tried for ever.
      maxStalledCount: 10,
    });
    worker.on('error', () => undefined); // of the connection, which is opened again
    stderr.write(`worker ${process.pid} on ${backend.name}: ${backend.device.name} [${backend.device.type}]\n`);
    const ended = AbortSignal.any([signal, stopped.signal, failed.signal]);
    if (!ended.aborted) await once(ended, 'abort');
  } finally {
    // The tile under way is finished.
    await worker?.close();
    await computer?.dispose();
    await backend?.dispose();
    store.redis.disconnect();
    // The channel would keep the process.
    if (process.connected) process.disconnect();
  }
  failed.signal.throwIfAborted();
  return EXIT.ok;
}
