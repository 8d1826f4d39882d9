import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { type CommandContext, type Output, UserError } from '@concord/example-command';
import type { Neighbours } from './neighbours.ts';
import type { Plan } from './plan.ts';
import type { Progress, RunStore } from './run-store.ts';

/** Workers on this machine: how many, the arguments of each, and a command that starts them, in which `{n}` is a number. */
export type LocalWorkers = Readonly<{ count: number; args: readonly string[]; via?: string }>;

const MAIN = fileURLToPath(new URL('main.js', import.meta.url));
/** How often Redis is asked how far the work is. */
const POLL_MS = 200;

/**
 * Has the tiles of a plan computed, by workers that it starts and by others that are there. What is interrupted goes on
 * with the next call.
 *
 * @param corpus - where workers look for the file
 * @returns the graph, and the seconds from when the workers were there
 * @throws {UserError} OTHER_RUN, TILE_FAILED, NO_WORKER
 */
export async function buildGraph(
  store: RunStore,
  plan: Plan,
  corpus: string,
  local: LocalWorkers,
  { signal, stderr }: CommandContext,
  onProgress: (progress: Progress) => void,
): Promise<Readonly<{ graph: Neighbours; seconds: number }>> {
  // Commands wait for a Redis that is gone, but not once the user has enough of it.
  const disconnect = (): void => store.close();
  signal.addEventListener('abort', disconnect);
  const run = await store.begin(plan, corpus);
  onProgress(await store.progress(plan));
  const children = Array.from({ length: local.count }, (_, n) => startWorker(n, local, stderr));
  const running = (): number => children.filter(isRunning).length;
  try {
    while ((await store.queue.getWorkersCount()) < running()) await setTimeout(POLL_MS, undefined, { signal });
    const started = performance.now();
    await store.addTiles(run, plan);
    while (true) {
      const progress = await store.progress(plan);
      onProgress(progress);
      if (progress.done === progress.tiles) break;
      const hint = 'the same command goes on from there';
      if (progress.failed > 0) {
        const [job] = await store.queue.getFailed(0, 0);
        throw new UserError('TILE_FAILED', `${job?.id}: ${job?.failedReason}`, { hint });
      }
      if (children.length > 0 && running() === 0 && progress.workers === 0) {
        const message = `no worker is left, and ${progress.done} of ${progress.tiles} tiles are done`;
        throw new UserError('NO_WORKER', message, { hint });
      }
      await setTimeout(POLL_MS, undefined, { signal });
    }
    return { seconds: (performance.now() - started) / 1000, graph: await store.graph(plan) };
  } finally {
    signal.removeEventListener('abort', disconnect);
    // They finish the tiles under way.
    await Promise.all(children.filter(isRunning).map((child) => (child.disconnect(), once(child, 'exit'))));
  }
}

function startWorker(n: number, { args, via = '' }: LocalWorkers, stderr: Output): ChildProcess {
  const before = via.replaceAll('{n}', String(n)).split(/\s+/).filter(Boolean);
  const [program, ...rest] = [...before, process.execPath, MAIN, 'worker', ...args] as [string, ...string[]];
  // In a group of its own: a Ctrl-C in the terminal is for this process, whose end of the channel the worker sees.
  const child = spawn(program, rest, { detached: true, stdio: ['ignore', 'ignore', 'pipe', 'ipc'] });
  child.stderr?.on('data', (text) => stderr.write(String(text)));
  child.on('error', ({ message }) => stderr.write(`worker ${n} does not start: ${message}\n`));
  child.on(
    'exit',
    (code, by) => code === 0 || stderr.write(`worker ${n} ended with ${by ?? code}; others get its tile\n`),
  );
  return child;
}

function isRunning({ pid, exitCode, signalCode }: ChildProcess): boolean {
  return pid !== undefined && exitCode === null && signalCode === null;
}
