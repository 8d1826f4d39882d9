import { tryBackends } from './backends.ts';
import { runSuite } from './gpu/run-suite.ts';
import { runProgram } from './kernel/run-program.ts';
import type { PageMessage, Tasks, WorkerMessage } from './task.ts';

type Work = {
  [Name in keyof Tasks]: (
    request: Tasks[Name]['request'],
    report: (progress: Tasks[Name]['progress']) => void,
    signal: AbortSignal,
  ) => Promise<Tasks[Name]['result']>;
};

const WORK: Work = { backends: tryBackends, program: runProgram, suite: runSuite };

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  postMessage(message: WorkerMessage<unknown, unknown>): void;
  addEventListener(type: 'message', listener: (event: { readonly data: PageMessage }) => void): void;
}

const scope = globalThis as unknown as WorkerScope;
const ending = new AbortController();

scope.addEventListener('message', ({ data }) => {
  if (data === 'cancel') ending.abort();
  else void work(data);
});

async function work({ task, request }: Exclude<PageMessage, 'cancel'>): Promise<void> {
  // A request belongs to its task, which the type of a record cannot say.
  const run = WORK[task] as (
    request: unknown,
    report: (progress: unknown) => void,
    signal: AbortSignal,
  ) => Promise<unknown>;
  try {
    const report = (progress: unknown): void => scope.postMessage({ kind: 'progress', progress });
    scope.postMessage({ kind: 'result', result: await run(request, report, ending.signal) });
  } catch (error) {
    scope.postMessage({ kind: 'crash', message: error instanceof Error ? error.message : String(error) });
  }
}
