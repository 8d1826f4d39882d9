/* oxlint-disable import/default -- Vite gives the text of a file */
import programApi from '../kernel/program-api.ts?raw';
import playground from '../modules.d.ts?raw';
import typescript from './language.worker.ts?bundled';

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
  ask<What extends keyof Answers>(
    what: What,
    question: Omit<Asked, 'id' | 'what'>,
  ): Promise<Answers[What]>;
  dispose(): void;
}

/** The types of the packages as built, and TypeScript's own, by the path that the worker knows. */
const FILES = Object.fromEntries(
  Object.entries(
    import.meta.glob<string>(
      [
        '../../node_modules/typescript/lib/lib.{decorators,es}*.d.ts',
        '../../../../packages/{backend-core,backend-cpu,backend-wasm,backend-webgpu,grad,kernel,ops,variants}/dist/**/*.d.ts',
      ],
      { query: '?raw', import: 'default', eager: true },
    ),
  ).map(([path, text]) => [path.replace(/^.*\/typescript(?=\/lib\/)|^.*(?=\/packages\/)/, ''), text]),
);

/** Starts TypeScript in a worker: several megabytes, so only for an editor that is used. */
export function startLanguage(): Language {
  const script = URL.createObjectURL(new Blob([typescript], { type: 'text/javascript' }));
  const worker = new Worker(script);
  worker.postMessage({ files: { ...FILES, '/kernel/program-api.ts': programApi, '/modules.d.ts': playground } });
  const waiting = new Map<number, (answer: never) => void>();
  let last = 0;
  worker.addEventListener('message', ({ data }: MessageEvent<{ readonly id: number; readonly answer: never }>) => {
    waiting.get(data.id)?.(data.answer);
    waiting.delete(data.id);
  });
  return {
    ask: (what, question) =>
      new Promise((resolve) => {
        waiting.set(++last, resolve);
        worker.postMessage({ ...question, id: last, what } satisfies Asked);
      }),
    dispose() {
      worker.terminate();
      URL.revokeObjectURL(script);
    },
  };
}
