import { BackendError, isBackendError } from '@concord/backend-core';
import { defaultThreads, sharingObstacle } from '../engine/host.ts';
import { makeMemory } from '../memory/linear-memory.ts';
import type { WasmOptions } from '../options.ts';
import { InlineMachine } from './inline-machine.ts';
import { LAYOUT } from './layout.ts';
import type { Machine, MachineEvents, WasmMode } from './machine.ts';
import { SharedMachine } from './shared-machine.ts';
import type { Answer } from './steps.ts';
import { StepsMachine } from './steps-machine.ts';
import { hasWorkers, NOT_LOADED, startWorkers, type WorkerHandle } from './worker-handle.ts';
import type { Start } from './worker-main.ts';

const FIRST_BYTES = 2 ** 21;
const MOST_BYTES = 2 ** 32;

const LOAD_HINT =
  'the page may forbid worker-src blob: ; serve @concord/backend-wasm/worker, and name it in the option workerUrl';

/** A machine that is ready. */
export interface OpenedMachine {
  readonly machine: Machine;
  /** The reasons why it is not of a better mode. */
  readonly obstacles: readonly string[];
}

/**
 * Starts the machine that the options mean, or the best that there is.
 *
 * @throws {BackendError} BACKEND_UNAVAILABLE when the mode that was asked for cannot be had
 */
export async function openMachine(
  options: WasmOptions,
  hasFma: boolean,
  events: MachineEvents,
): Promise<OpenedMachine> {
  const obstacles: string[] = [];
  for (const mode of options.mode === undefined ? (['threads', 'worker', 'inline'] as const) : [options.mode]) {
    try {
      return { machine: await open(mode, options, hasFma, events), obstacles };
    } catch (error) {
      if (!isBackendError(error, 'BACKEND_UNAVAILABLE')) throw error;
      if (options.mode !== undefined || mode === 'inline') throw error;
      obstacles.push(`no ${mode}: ${error.detail}`);
    }
  }
  throw new BackendError('BACKEND_UNAVAILABLE', obstacles.join('; '), { reason: 'failed' });
}

function open(mode: WasmMode, options: WasmOptions, hasFma: boolean, events: MachineEvents): Promise<Machine> {
  if (mode === 'threads') return openThreads(options, hasFma, events);
  if (mode === 'worker') return openWorker(options, hasFma, events);
  return Promise.resolve(new InlineMachine({ hasFma, isShared: false, threads: 1 }, events));
}

async function openThreads(options: WasmOptions, hasFma: boolean, events: MachineEvents): Promise<Machine> {
  const obstacle = sharingObstacle();
  if (obstacle !== undefined) {
    throw unavailable(obstacle, 'serve the page with Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy');
  }
  const threads = options.threads ?? defaultThreads();
  const linear = makeMemory(true);
  const workers = await startReady(threads, addressOf(options), events, (index) => ({
    kind: 'ring',
    layout: LAYOUT,
    memory: linear.memory,
    index,
    threads,
  }));
  return new SharedMachine(linear, workers, { hasFma, isShared: true, threads }, events);
}

async function openWorker(options: WasmOptions, hasFma: boolean, events: MachineEvents): Promise<Machine> {
  const bounds = { firstBytes: FIRST_BYTES, mostBytes: MOST_BYTES };
  const start = { kind: 'steps', ...bounds } as const;
  // It answers nothing before the machine asks.
  const onAnswer = (answer: Answer): void => machine.onAnswer(answer);
  const [worker] = await startReady(1, addressOf(options), events, () => start, onAnswer);
  const traits = { hasFma, isShared: false, threads: 1 };
  const machine = new StepsMachine(worker as WorkerHandle, bounds, traits, events);
  return machine;
}

/** Workers that have said that they are ready; none is left where one is not. */
async function startReady(
  count: number,
  url: string | undefined,
  events: MachineEvents,
  startOf: (index: number) => Start,
  onAnswer: (answer: Answer) => void = () => undefined,
): Promise<readonly WorkerHandle[]> {
  if (!hasWorkers()) throw unavailable('there are no workers here');
  const workers = start(count, url);
  try {
    await Promise.all(
      workers.map((worker, index) => {
        const name = `worker ${index + 1} of ${count}`;
        return ready(worker, name, startOf(index), events, onAnswer);
      }),
    );
  } catch (error) {
    await Promise.all(workers.map((worker) => worker.terminate()));
    throw error;
  }
  // From here on they keep the process alive only during a wait.
  for (const worker of workers) worker.unref();
  return workers;
}

function start(count: number, url: string | undefined): readonly WorkerHandle[] {
  try {
    return startWorkers(count, url);
  } catch (cause) {
    throw unavailable(`no worker starts: ${String(cause)}`, undefined, cause);
  }
}

/** Sends a worker its first message; resolves when it is ready. */
function ready(
  worker: WorkerHandle,
  name: string,
  start: Start,
  events: MachineEvents,
  onAnswer: (answer: Answer) => void,
): Promise<void> {
  return new Promise((resolve, reject) => {
    let isReady = false;
    worker.listen(
      (data) => {
        const answer = data as Answer;
        if (answer.kind !== 'ready') return onAnswer(answer);
        isReady = true;
        resolve();
      },
      (why) => {
        if (isReady) events.onLost(`${name} is gone: ${why}`);
        else reject(unavailable(`${name} did not start: ${why}`, why === NOT_LOADED ? LOAD_HINT : undefined));
      },
    );
    try {
      worker.post(start);
    } catch (cause) {
      reject(unavailable(`${name} cannot be given the memory: ${String(cause)}`, undefined, cause));
    }
  });
}

function unavailable(detail: string, hint?: string, cause?: unknown): BackendError {
  return new BackendError('BACKEND_UNAVAILABLE', detail, { reason: 'failed', hint, cause });
}

function addressOf({ workerUrl }: WasmOptions): string | undefined {
  return typeof workerUrl === 'object' ? workerUrl.href : workerUrl;
}
