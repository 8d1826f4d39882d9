/** What a worker sends: a part of the work, its end, or why it failed. */
export type WorkerMessage<Progress, Result> =
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'result'; readonly result: Result }
  | { readonly kind: 'crash'; readonly message: string };

/** Work that a worker does for a page. */
export interface Task<Result> {
  readonly result: Promise<Result>;
  /** Sends a message to the worker while it works. */
  send(message: unknown): void;
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

/**
 * Hands one piece of work to a new worker and ends that worker with it: nothing is left of one run in the next.
 *
 * @param worker - was just made
 * @param request - is structured-cloned
 */
export function startTask<Progress, Result>(
  worker: Worker,
  request: unknown,
  onProgress: (progress: Progress) => void,
): Task<Result> {
  let stop = (): void => undefined;
  const result = new Promise<Result>((resolve, reject) => {
    const end = (settle: () => void): void => {
      worker.terminate();
      settle();
    };
    worker.addEventListener('message', ({ data }: MessageEvent<WorkerMessage<Progress, Result>>) => {
      if (data.kind === 'progress') onProgress(data.progress);
      else if (data.kind === 'result') end(() => resolve(data.result));
      else end(() => reject(new Error(data.message)));
    });
    worker.addEventListener('error', (event) => {
      end(() => reject(new Error(event.message || 'the worker of this page could not be loaded')));
    });
    stop = () => end(() => reject(new Stopped()));
  });
  worker.postMessage(request);
  return { result, send: (message) => worker.postMessage(message), stop: () => stop() };
}

/** The part of a worker's global scope that is used here. */
interface WorkerScope {
  postMessage(message: unknown): void;
  addEventListener(type: 'message', listener: (event: { readonly data: unknown }) => void): void;
}

/**
 * Serves the first message of a page; later ones go to `onMessage`.
 *
 * @param work - what it returns is sent as the result, what it throws as a crash
 */
export function serveTask<Request, Progress, Result>(
  work: (request: Request, report: (progress: Progress) => void) => Promise<Result>,
  onMessage: (message: unknown) => void = () => undefined,
): void {
  const scope = globalThis as unknown as WorkerScope;
  const send = (message: WorkerMessage<Progress, Result>): void => scope.postMessage(message);
  let isBusy = false;
  scope.addEventListener('message', ({ data }) => {
    if (isBusy) return onMessage(data);
    isBusy = true;
    work(data as Request, (progress) => send({ kind: 'progress', progress })).then(
      (result) => send({ kind: 'result', result }),
      (error: unknown) => send({ kind: 'crash', message: error instanceof Error ? error.message : String(error) }),
    );
  });
}
