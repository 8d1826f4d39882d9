import type { Attempt } from '@concord/backend-core';
import type { SuiteProgress, SuiteRequest, SuiteResult } from './gpu/suite.ts';
import type { RunProgress, RunRequest, RunResult } from './kernel/run-program.ts';

/** The tasks of the worker of the pages: for each its request, its progress and its result. */
export interface Tasks {
  /** Tries each backend. */
  readonly backends: { readonly request: null; readonly progress: never; readonly result: readonly Attempt[] };
  /** Runs a program of the playground. */
  readonly program: { readonly request: RunRequest; readonly progress: RunProgress; readonly result: RunResult };
  /** Runs conformance and bench. */
  readonly suite: { readonly request: SuiteRequest; readonly progress: SuiteProgress; readonly result: SuiteResult };
}

/** A message of a page: first a task, then perhaps a request to end it early. */
export type PageMessage =
  | { [Name in keyof Tasks]: { readonly task: Name; readonly request: Tasks[Name]['request'] } }[keyof Tasks]
  | 'cancel';

/** A message of a worker: a part of the work, its result, or the reason why it failed. */
export type WorkerMessage<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'crash'; readonly message: string };

/** Work that a worker does for a page. */
export interface Task<Result> {
  readonly result: Promise<Result>;
  /** Asks the work to end early, with the result that it has by then. */
  cancel(): void;
  /** Ends the worker at once, also in an endless loop; `result` is rejected with {@link Stopped}. */
  stop(): void;
}

/** The work was stopped. */
export class Stopped extends Error {
  override readonly name = 'Stopped';

  constructor() {
    super('stopped');
  }
}

/** Hands one task to a new worker and ends that worker with it: nothing is left of one run in the next. */
export function startTask<Name extends keyof Tasks>(
  task: Name,
  request: Tasks[Name]['request'],
  onProgress: (progress: Tasks[Name]['progress']) => void = () => undefined,
): Task<Tasks[Name]['result']> {
  type Message = WorkerMessage<Tasks[Name]['progress'], Tasks[Name]['result']>;
  const worker = new Worker(new URL('./tasks.worker.ts', import.meta.url), { type: 'module' });
  const send = (message: PageMessage): void => worker.postMessage(message);
  let stop = (): void => undefined;
  const result = new Promise<Tasks[Name]['result']>((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.terminate();
      settle();
    };
    worker.addEventListener('message', ({ data }: MessageEvent<Message>) => {
      if (data.kind === 'progress') onProgress(data.progress);
      else if (data.kind === 'result') end(() => resolve(data.result));
      else end(() => reject(new Error(data.message)));
    });
    worker.addEventListener('error', (event) => {
      end(() => reject(new Error(event.message || 'the worker of this page could not be loaded')));
    });
    stop = () => end(() => reject(new Stopped()));
  });
  send({ task, request } as PageMessage);
  return { result, cancel: () => send('cancel'), stop: () => stop() };
}
