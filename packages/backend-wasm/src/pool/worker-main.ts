import type { makeCodeTable as MakeCodeTable } from './code-table.ts';
import type { Layout } from './layout.ts';
import type { runTiles as RunTiles } from './run-tiles.ts';
import type { serveRing as ServeRing } from './serve-ring.ts';
import type { serveSteps as ServeSteps } from './serve-steps.ts';
import type { Answer, Step } from './steps.ts';

/** The first message to a worker. */
export type Start =
  | {
      readonly kind: 'ring';
      readonly layout: Layout;
      readonly memory: WebAssembly.Memory;
      readonly index: number;
      readonly threads: number;
    }
  | { readonly kind: 'steps'; readonly firstBytes: number; readonly mostBytes: number };

/** The functions that a worker is made of. */
export interface WorkerParts {
  readonly makeCodeTable: typeof MakeCodeTable;
  readonly runTiles: typeof RunTiles;
  readonly serveRing: typeof ServeRing;
  readonly serveSteps: typeof ServeSteps;
}

interface Port {
  postMessage(message: Answer, transfer: readonly ArrayBuffer[]): void;
  on?(event: 'message', listener: (data: unknown) => void): void;
  onmessage?: (event: { readonly data: unknown }) => void;
}

/**
 * The whole of a worker, in Node and in browsers. Refers to nothing outside of itself: workers get its source.
 */
export function workerMain({ makeCodeTable, runTiles, serveRing, serveSteps }: WorkerParts): void {
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): { readonly parentPort: Port | null } };
  };
  const port = process?.getBuiltinModule?.('node:worker_threads').parentPort ?? (globalThis as unknown as Port);
  let serve: ((steps: readonly Step[]) => void) | undefined;

  const start = (message: Start): void => {
    if (message.kind === 'ring') {
      const { layout, memory, index, threads } = message;
      port.postMessage({ kind: 'ready' }, []);
      return serveRing(layout, makeCodeTable(memory), memory, index, threads);
    }
    const { firstBytes, mostBytes } = message;
    const memory = new WebAssembly.Memory({ initial: firstBytes / 65_536, maximum: mostBytes / 65_536 });
    serve = serveSteps(makeCodeTable(memory), runTiles, memory, mostBytes, (answer, transfer) =>
      port.postMessage(answer, transfer),
    );
    port.postMessage({ kind: 'ready' }, []);
  };

  const onMessage = (data: unknown): void => {
    if (serve === undefined) start(data as Start);
    else serve(data as readonly Step[]);
  };
  if (port.on === undefined) port.onmessage = ({ data }) => onMessage(data);
  else port.on('message', onMessage);
}
