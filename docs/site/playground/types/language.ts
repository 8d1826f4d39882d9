/** A place in the program that is wrong, or that is explained. */
export interface Mistake {
  readonly from: number;
  readonly to: number;
  readonly message: string;
}

/** A name that fits where one types. */
export interface Completion {
  readonly name: string;
  /** As TypeScript calls it: `function`, `const`, `method`, ... */
  readonly kind: string;
}

/** The questions, with the types of their answers. */
export interface Answers {
  readonly mistakes: readonly Mistake[];
  readonly completions: readonly Completion[];
  /** The signature and the docstring of a completion. */
  readonly details: string;
  readonly hover: Mistake | undefined;
}

/** A question to the worker. */
export interface Asked {
  readonly id: number;
  readonly what: keyof Answers;
  readonly source: string;
  readonly place?: number;
  readonly name?: string;
}

/** The types of a program. */
export interface Language {
  ask<What extends keyof Answers>(what: What, question: Omit<Asked, 'id' | 'what'>): Promise<Answers[What]>;
  dispose(): void;
}

/** Starts TypeScript in a worker. It is several megabytes, which load while one reads; questions wait for it. */
export function startLanguage(): Language {
  const waiting = new Map<number, (answer: never) => void>();
  let last = 0;
  let isDisposed = false;
  const started = import('./files.ts').then(({ FILES, SCRIPT }) => {
    const script = URL.createObjectURL(new Blob([SCRIPT], { type: 'text/javascript' }));
    const worker = new Worker(script);
    worker.postMessage({ files: FILES });
    worker.addEventListener('message', ({ data }: MessageEvent<{ readonly id: number; readonly answer: never }>) => {
      URL.revokeObjectURL(script);
      waiting.get(data.id)?.(data.answer);
      waiting.delete(data.id);
    });
    if (isDisposed) worker.terminate();
    return worker;
  });
  return {
    ask: (what, question) =>
      new Promise((resolve, reject) => {
        const id = ++last;
        waiting.set(id, resolve);
        started.then((worker) => worker.postMessage({ ...question, id, what } satisfies Asked), reject);
      }),
    dispose() {
      isDisposed = true;
      void started.then((worker) => worker.terminate());
    },
  };
}
