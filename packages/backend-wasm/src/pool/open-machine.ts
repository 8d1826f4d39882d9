import { BackendError, isBackendError } from '@concord/backend-core';
import { defaultThreads, sharingObstacle } from '../engine/host.ts';
import { makeMemory } from '../memory/linear-memory.ts';
import type { WasmOptions } from '../options.ts';
import { InlineMachine } from './inline-machine.ts';
import { LAYOUT } from './layout.ts';
import type { Machine, MachineEvents, WasmMode } from './machine.ts';
import { SharedMachine } from './shared-machine.ts';
import type { Answer } from './serve-steps.ts';
import { StepsMachine } from './steps-machine.ts';
import { hasWorkers, NOT_LOADED, startWorkers, type WorkerHandle } from './worker-handle.ts';
import type { Start } from './worker-main.ts';

const FIRST_BYTES = 2 ** 21;
const MAX_BYTES = 2 ** 32;

const LOAD_HINT =
  'the page may forbid worker-src blob: ; serve @concord/backend-wasm/worker, and name it in the option workerUrl';

const SILENT_HINT =
  "check that workerUrl, where it is given, serves this version's @concord/backend-wasm/worker, and that the page's Content " +
  "Security Policy has 'wasm-unsafe-eval' in script-src and the worker's source in worker-src";

/** Workers have that long to say that they are ready: one alone starts sooner than many on a busy machine. */
const LIMIT_MS = { threads: 20_000, worker: 10_000 };

/** The circumstances of an `init`. */
interface Opening {
  readonly hasFma: boolean;
  readonly events: MachineEvents;
  /** Aborted when nobody wants the machine any more. */
  readonly signal: AbortSignal;
}

/** The workers to start. */
interface Wanted {
  readonly count: number;
  readonly url: string | undefined;
  readonly limitMs: number;
  /** The first message to a worker. */
  readonly startOf: (index: number) => Start;
  /** Called with each message after `ready`. */
  readonly onAnswer?: (answer: Answer) => void;
}

/** A machine that is ready. */
export interface OpenedMachine {
  readonly machine: Machine;
  /** The reasons why it is not of a better mode. */
  readonly obstacles: readonly string[];
}

/**
 * Starts the machine that the options mean, or the best that there is.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE when the mode that was asked for cannot be had; the reason of `signal`
 */
export async function openMachine(
  options: WasmOptions,
  hasFma: boolean,
  events: MachineEvents,
  signal: AbortSignal,
): Promise<OpenedMachine> {
  const opening = { hasFma, events, signal };
  const obstacles: string[] = [];
  for (const mode of options.mode === undefined ? (['threads', 'worker', 'inline'] as const) : [options.mode]) {
    try {
      return { machine: await open(mode, options, opening), obstacles };
    } catch (error) {
      if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
      if (options.mode !== undefined || mode === 'inline') throw error;
      obstacles.push(`no ${mode}: ${error.detail}`);
    }
  }
  throw new BackendError('BACKEND_UNAVAILABLE', obstacles.join('; '), { reason: 'failed' });
}

function open(mode: WasmMode, options: WasmOptions, opening: Opening): Promise<Machine> {
  if (mode === 'threads') return openThreads(options, opening);
  if (mode === 'worker') return openWorker(options, opening);
  return Promise.resolve(new InlineMachine({ hasFma: opening.hasFma, isShared: false, threads: 1 }, opening.events));
}

async function openThreads(options: WasmOptions, opening: Opening): Promise<Machine> {
  const obstacle = sharingObstacle();
  if (obstacle !== undefined) {
    throw unavailable(obstacle, 'serve the page with Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy');
  }
  const threads = options.threads ?? defaultThreads();
  const linear = makeMemory(true);
  const startOf = (index: number): Start => ({ kind: 'ring', layout: LAYOUT, memory: linear.memory, index, threads });
  const wanted = { count: threads, url: addressOf(options), limitMs: LIMIT_MS.threads, startOf };
  const workers = await startReady(wanted, opening);
  return new SharedMachine(linear, workers, { hasFma: opening.hasFma, isShared: true, threads }, opening.events);
}

async function openWorker(options: WasmOptions, opening: Opening): Promise<Machine> {
  const bounds = { firstBytes: FIRST_BYTES, maxBytes: MAX_BYTES };
  const start = { kind: 'steps', ...bounds } as const;
  // It answers nothing before the machine asks.
  const onAnswer = (answer: Answer): void => machine.onAnswer(answer);
  const wanted = { count: 1, url: addressOf(options), limitMs: LIMIT_MS.worker, startOf: () => start, onAnswer };
  const [worker] = await startReady(wanted, opening);
  const traits = { hasFma: opening.hasFma, isShared: false, threads: 1 };
  const machine = new StepsMachine(worker as WorkerHandle, bounds, traits, opening.events);
  return machine;
}

/** Starts workers and waits until all are ready; none is left where one is not. */
async function startReady(
  { count, url, limitMs, startOf, onAnswer }: Wanted,
  { events, signal }: Opening,
): Promise<readonly WorkerHandle[]> {
  if (!hasWorkers()) throw unavailable('there are no workers here');
  if (signal.aborted) throw signal.reason;
  const workers = start(count, url);
  let areReady = false;
  let cleanUp: (() => void) | undefined;
  try {
    await new Promise<void>((resolve, reject) => {
      let missing = count;
      cleanUp = whenLate(limitMs, () => {
        const what = `${missing} of ${count} workers did not answer within ${limitMs / 1000} s`;
        reject(unavailable(what, SILENT_HINT));
      });
      signal.addEventListener('abort', () => reject(signal.reason));
      for (const [index, worker] of workers.entries()) {
        const name = `worker ${index + 1} of ${count}`;
        worker.listen(
          (data) => {
            if (areReady) onAnswer?.(data as Answer);
            else if ((data as Answer | null)?.kind === 'ready' && --missing === 0) resolve();
          },
          (why) => {
            if (areReady) events.onLost(`${name} is gone: ${why}`);
            else reject(unavailable(`${name} did not start: ${why}`, why === NOT_LOADED ? LOAD_HINT : undefined));
          },
        );
        try {
          worker.post(startOf(index));
        } catch (cause) {
          reject(unavailable(`${name} cannot be given the memory: ${String(cause)}`, undefined, cause));
        }
      }
    });
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.terminate()));
    throw error;
  } finally {
    cleanUp?.();
  }
  areReady = true;
  // From here on they keep the process alive only during a wait.
  for (const worker of workers) worker.unref();
  return workers;
}

/** Calls back after a time, unless the function that it returns is called before. */
function whenLate(limitMs: number, call: () => void): () => void {
  // In two parts: after a caller that blocked for longer, messages that have come are taken before the second one.
  let timer = setTimeout(() => {
    timer = setTimeout(call, limitMs / 2);
  }, limitMs / 2);
  return () => clearTimeout(timer);
}

function start(count: number, url: string | undefined): readonly WorkerHandle[] {
  try {
    return startWorkers(count, url);
  } catch (cause) {
    throw unavailable(`no worker starts: ${String(cause)}`, undefined, cause);
  }
}

function unavailable(detail: string, hint?: string, cause?: unknown): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', detail, { reason: 'failed', hint, cause });
}

function addressOf({ workerUrl }: WasmOptions): string | undefined {
  return typeof workerUrl === 'object' ? workerUrl.href : workerUrl;
}
