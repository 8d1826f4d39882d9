import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CommandContext, EXIT, type Output, progressOn, UserError } from '@concord/example-command';
import { openCorpus } from './corpus.ts';
import { saveGraph } from './neighbours.ts';
import { makePlan } from './plan.ts';
import { type Progress, RunStore } from './run-store.ts';
import type { WorkerOptions } from './worker.ts';

/** The graph to build, and the number of workers on this machine. The command `via` starts each; `{n}` in it is its number. */
export type BuildOptions = Omit<WorkerOptions, 'corpus'> &
  Readonly<{ corpus: string; out: string; k: number; tile?: number; shard: number; workers: number; via?: string }> &
  Readonly<{ restart?: boolean; json?: boolean }>;

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
const GRACE_MS = 30_000; // for workers to finish the tiles under way
const POLL_MS = 200; // how often Redis is asked how far the work is

/** Builds a graph, by workers that it starts and others that are there, or goes on with one. Fails with a `UserError`. */
export async function build(options: BuildOptions, context: CommandContext): Promise<number> {
  const { signal, stdout, stderr } = context;
  const path = resolve(options.corpus);
  const corpus = await openCorpus(path);
  const store = await RunStore.open(options.redis, options.name);
  // Commands wait for a Redis that is gone, but not once the user has enough of it.
  signal.addEventListener('abort', () => {
    store.redis.options.retryStrategy = () => null; // after the next attempt they fail
    if (store.redis.status !== 'reconnecting') store.redis.disconnect();
  });
  let children: ChildProcess[] = [];
  const running = (): ChildProcess[] => children.filter((one) => one.pid && one.exitCode === null && !one.signalCode);
  const endWorkers = async (): Promise<void> => {
    const exits = Promise.all(running().map((child) => (child.connected && child.disconnect(), once(child, 'exit'))));
    await Promise.race([exits, setTimeout(GRACE_MS, undefined, { ref: false })]);
    for (const child of running()) child.kill('SIGKILL');
    await exits;
  };
  const show = progressBar(stderr);
  try {
    const plan = await makePlan(corpus, options, signal);
    if (options.restart === true) await store.clear();
    let run = await store.begin(plan, path);
    show.update(await store.progress(run), 0, 0);
    children = Array.from({ length: options.workers }, (_, n) => startWorker(n, options, stderr));
    while ((await store.queue.getWorkersCount()) < running().length) await setTimeout(POLL_MS, undefined, { signal });
    const [{ done: before, tiles }, started] = [await store.progress(run), performance.now()];
    const tilesPerSecond = (done: number): number => ((done - before) * 1000) / (performance.now() - started);
    const pairs = plan.vectors ** 2 / tiles;
    await store.addTiles(run);
    for (;;) {
      const progress = await store.progress(run);
      show.update(progress, tilesPerSecond(progress.done), pairs);
      if (progress.done === tiles) break;
      // Redis has lost its data: nothing is left, and not all is done.
      if (progress.left + progress.failed === 0) await store.addTiles((run = await store.begin(plan, path)));
      const hint = 'the same command goes on from there';
      if (progress.failed > 0) {
        const job = (await store.queue.getFailed()).find(({ data }) => data.run === run.id);
        throw new UserError('TILE_FAILED', `${job?.id}: ${job?.failedReason}`, { hint });
      }
      if (children.length > 0 && running().length === 0 && progress.workers === 0) {
        const message = `no worker is left, and ${progress.done} of ${tiles} tiles are done`;
        throw new UserError('NO_WORKER', message, { hint });
      }
      await setTimeout(POLL_MS, undefined, { signal });
    }
    const seconds = (performance.now() - started) / 1000;
    const [{ out }, { vectors, k }, pairsPerSecond] = [options, plan, tilesPerSecond(tiles) * pairs];
    show.stop();
    await saveGraph(out, await store.graph(run));
    await endWorkers(); // one that looks for stalled tiles writes a key
    await store.clear();
    const json = JSON.stringify({ out, vectors, k, seconds, pairsPerSecond });
    const speed = `${seconds.toFixed(1)} s, ${(pairsPerSecond / 1e6).toFixed(1)} M pairs/s`;
    stdout.write(options.json ? `${json}\n` : `${out}: ${k} neighbours of ${vectors} vectors in ${speed}\n`);
    return EXIT.ok;
  } finally {
    show.stop();
    if (signal.aborted) stderr.write('interrupted; the same command goes on from there\n');
    await endWorkers();
    store.redis.disconnect();
    await corpus.close();
  }
}

/** On a terminal a bar, elsewhere a line now and then. */
function progressBar(stderr: Output): {
  update(of: Progress, perSecond: number, pairs: number): void;
  stop(): unknown;
} {
  const format = '{bar} {value}/{total} tiles | {note}';
  const bar = progressOn(stderr, '', { format, clearOnComplete: false, noTTYOutput: true, notTTYSchedule: 10_000 });
  const update = ({ done, tiles, workers }: Progress, perSecond: number, pairs: number): void => {
    const left = perSecond > 0 ? `${Math.ceil((tiles - done) / perSecond)} s left` : 'time left unknown';
    bar.update(done, tiles, `${((perSecond * pairs) / 1e6).toFixed(1)} M pairs/s | ${left} | ${workers} workers`);
  };
  return { update, stop: bar.stop };
}

function startWorker(n: number, options: BuildOptions, stderr: Output): ChildProcess {
  const { via = '', redis, name, memory, lock, backend } = options;
  const before = via.replaceAll('{n}', String(n)).split(/\s+/).filter(Boolean);
  const words = Object.entries({ redis, name, memory, lock, ...(backend && { backend }) });
  const args = [MAIN, 'worker', ...words.flatMap(([key, value]) => [`--${key}`, String(value)])];
  const [program, ...rest] = [...before, process.execPath, ...args] as [string, ...string[]];
  // In another process group: a Ctrl-C in the terminal is for this process, whose end of the channel the worker sees.
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (text) => stderr.write(String(text)));
  child.on('error', ({ message }) => stderr.write(`worker ${n} does not start: ${message}\n`));
  child.on('exit', (code, by) => code === 0 || stderr.write(`worker ${n} ended: ${by ?? code}; others get its tile\n`));
  return child;
}
