import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { resolve } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { checkBackendNames, type CommandContext, EXIT, type Output, UserError } from '@concord/example-command';
import cliProgress from 'cli-progress';
import { openCorpus } from './corpus.ts';
import { saveGraph } from './neighbours.ts';
import { makePlan, type Plan } from './plan.ts';
import { type Progress, RunStore } from './run-store.ts';
import type { WorkerOptions } from './worker.ts';

/** What is built, and by how many workers on this machine, started by the command `via`, where `{n}` is their number. */
export type BuildOptions = Omit<WorkerOptions, 'corpus'> &
  Readonly<{ corpus: string; out: string; k: number; tile?: number; shard: number; workers: number; via?: string }> &
  Readonly<{ restart?: boolean; json?: boolean }>;

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
/** How often Redis is asked how far the work is. */
const POLL_MS = 200;

/**
 * Builds a graph, by workers that it starts and by others that are there, or goes on with one that was interrupted.
 *
 * @throws {UserError} BAD_CORPUS, NO_REDIS, OTHER_RUN, TILE_FAILED, NO_WORKER
 */
export async function build(options: BuildOptions, context: CommandContext): Promise<number> {
  const { signal, stdout, stderr } = context;
  checkBackendNames(options.backend);
  const corpus = await openCorpus(options.corpus);
  const store = await RunStore.open(options.redis, options.name);
  // Commands wait for a Redis that is gone, but not once the user has enough of it.
  signal.addEventListener('abort', () => store.redis.disconnect());
  let children: ChildProcess[] = [];
  const running = (): ChildProcess[] => children.filter((one) => one.pid && one.exitCode === null && !one.signalCode);
  const show = progressBar(stderr);
  try {
    const plan = await makePlan(corpus, options, signal);
    if (options.restart === true) await store.clear();
    const run = await store.begin(plan, resolve(options.corpus));
    show.update(await store.progress(plan), plan);
    children = Array.from({ length: options.workers }, (_, n) => startWorker(n, options, stderr));
    while ((await store.queue.getWorkersCount()) < running().length) await setTimeout(POLL_MS, undefined, { signal });
    const started = performance.now();
    await store.addTiles(run, plan);
    for (;;) {
      const progress = await store.progress(plan);
      show.update(progress, plan);
      if (progress.done === progress.tiles) break;
      const hint = 'the same command goes on from there';
      if (progress.failed > 0) {
        const [job] = await store.queue.getFailed(0, 0);
        throw new UserError('TILE_FAILED', `${job?.id}: ${job?.failedReason}`, { hint });
      }
      if (children.length > 0 && running().length === 0 && progress.workers === 0) {
        const message = `no worker is left, and ${progress.done} of ${progress.tiles} tiles are done`;
        throw new UserError('NO_WORKER', message, { hint });
      }
      await setTimeout(POLL_MS, undefined, { signal });
    }
    const seconds = (performance.now() - started) / 1000;
    show.stop();
    await saveGraph(options.out, await store.graph(plan));
    await store.clear();
    const pairsPerSecond = Math.round(plan.vectors ** 2 / seconds);
    const result = { out: options.out, vectors: plan.vectors, k: plan.k, seconds, pairsPerSecond };
    const speed = `${seconds.toFixed(1)} s, ${(pairsPerSecond / 1e6).toFixed(1)} M pairs/s`;
    const text = `${options.out}: ${plan.k} neighbours of ${plan.vectors} vectors in ${speed}`;
    stdout.write(`${options.json ? JSON.stringify(result) : text}\n`);
    return EXIT.ok;
  } finally {
    show.stop();
    // They finish the tiles under way.
    await Promise.all(running().map((child) => (child.connected && child.disconnect(), once(child, 'exit'))));
    store.redis.disconnect();
    await corpus.close();
  }
}

/** On a terminal a bar, elsewhere a line now and then. */
function progressBar(stderr: Output): { update(progress: Progress, plan: Plan): void; stop(): void } {
  const bar = new cliProgress.SingleBar({
    stream: stderr as NodeJS.WriteStream,
    format: '{bar} {value}/{total} tiles | {speed} M pairs/s | {left} | {workers} workers',
    // Ctrl-C is handled by the program itself.
    ...{ noTTYOutput: true, notTTYSchedule: 10_000, gracefulExit: false },
  });
  let first: { done: number; at: number } | undefined;
  const update = ({ done, tiles, workers }: Progress, { tileRows, vectors }: Plan): void => {
    const { done: before, at } = (first ??= { done, at: performance.now() });
    const perSecond = done === before ? 0 : ((done - before) * 1000) / (performance.now() - at);
    const left = perSecond > 0 ? `${Math.ceil((tiles - done) / perSecond)} s left` : 'time left unknown';
    const shown = { speed: ((perSecond * tileRows * vectors) / 1e6).toFixed(1), left, workers };
    if (bar.isActive) bar.update(done, shown);
    else bar.start(tiles, done, shown);
  };
  return { update, stop: () => bar.isActive && bar.stop() };
}

function startWorker(n: number, options: BuildOptions, stderr: Output): ChildProcess {
  const { via = '', redis, name, memory, lock, backend } = options;
  const before = via.replaceAll('{n}', String(n)).split(/\s+/).filter(Boolean);
  const words = Object.entries({ redis, name, memory, lock, ...(backend && { backend }) });
  const args = [MAIN, 'worker', ...words.flatMap(([key, value]) => [`--${key}`, String(value)])];
  const [program, ...rest] = [...before, process.execPath, ...args] as [string, ...string[]];
  // In a group of its own: a Ctrl-C in the terminal is for this process, whose end of the channel the worker sees.
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (text) => stderr.write(String(text)));
  child.on('error', ({ message }) => stderr.write(`worker ${n} does not start: ${message}\n`));
  child.on('exit', (code, by) => code === 0 || stderr.write(`worker ${n} ended: ${by ?? code}; others get its tile\n`));
  return child;
}
