import type { makeCodeTable as MakeCodeTable, runTiles as RunTiles } from './code-table.ts';
import type { Layout } from './layout.ts';
import type { RingParts } from './serve-ring.ts';
import type { AnswerPort, serveSteps as ServeSteps, Step, StepsWorker, takeStep as TakeStep } from './serve-steps.ts';

// Workers get these functions as source; see serve-ring.ts.

/** The first message to a worker. */
export type Start =
  | {
      readonly kind: 'ring';
      readonly layout: Layout;
      readonly memory: WebAssembly.Memory;
      readonly index: number;
      readonly threads: number;
    }
  | { readonly kind: 'steps'; readonly firstBytes: number; readonly maxBytes: number };

/** The functions that a worker is made of. */
export interface WorkerParts extends RingParts {
  readonly makeCodeTable: typeof MakeCodeTable;
  readonly runTiles: typeof RunTiles;
  readonly serveSteps: typeof ServeSteps;
  readonly takeStep: typeof TakeStep;
  readonly onMessage: typeof onMessage;
}

/** The port for messages in both directions. */
export interface Port extends AnswerPort {
  on?(event: 'message', listener: (data: unknown) => void): void;
  onmessage?: (event: { readonly data: unknown }) => void;
}

/** The whole of a worker, in Node and in browsers. */
export function workerMain(parts: WorkerParts): void {
  const { process } = globalThis as unknown as {
    process?: { getBuiltinModule?(name: string): { readonly parentPort: Port | null } };
  };
  const port = process?.getBuiltinModule?.('node:worker_threads').parentPort ?? (globalThis as unknown as Port);
  const state: { worker?: StepsWorker } = {};
  if (port.on === undefined) port.onmessage = ({ data }) => parts.onMessage(parts, port, state, data as Start);
  else port.on('message', (data) => parts.onMessage(parts, port, state, data as Start));
}

/** Takes a message: the first one gives the mode of the worker. */
export function onMessage(
  parts: WorkerParts,
  port: Port,
  state: { worker?: StepsWorker },
  message: Start | readonly Step[],
): void {
  if (state.worker !== undefined) return parts.serveSteps(state.worker, parts.takeStep, message as readonly Step[]);
  const start = message as Start;
  if (start.kind === 'ring') {
    const { layout, memory, index, threads } = start;
    const words = new Int32Array(memory.buffer);
    const codes = parts.makeCodeTable(memory);
    const thread = { layout, memory, words, codes, index, threads, ringParts: parts };
    port.postMessage({ kind: 'ready' }, []);
    return parts.serveRing(thread);
  }
  const { firstBytes, maxBytes } = start;
  const memory = new WebAssembly.Memory({ initial: firstBytes / 65_536, maximum: maxBytes / 65_536 });
  state.worker = {
    memory,
    maxBytes,
    codes: parts.makeCodeTable(memory),
    runTiles: parts.runTiles,
    port,
    isFailed: false,
  };
  port.postMessage({ kind: 'ready' }, []);
}
