import type { CodeTable, runTiles as RunTiles } from './code-table.ts';

/** A step for the worker of mode `worker`. Steps are taken in order. */
export type Step =
  | {
      readonly kind: 'run';
      readonly index: number;
      readonly version: number;
      /** The module, the first time that the worker hears of it. */
      readonly bytes: Uint8Array<ArrayBuffer> | undefined;
      readonly argsAddress: number;
      readonly args: Uint32Array;
      readonly tiles: number;
      readonly scratch: number;
    }
  | { readonly kind: 'grow'; readonly end: number }
  | { readonly kind: 'write'; readonly address: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'read'; readonly id: number; readonly address: number; readonly length: number };

/** An answer of the worker. */
export type Answer =
  | { readonly kind: 'ready' }
  /** The memory that a `read` asked for; none where it was for no bytes, which tells that all before is done. */
  | { readonly kind: 'read'; readonly id: number; readonly bytes: Uint8Array<ArrayBuffer> }
  | { readonly kind: 'fault'; readonly isMemory: boolean; readonly text: string };

// Workers get these functions as source; see serve-ring.ts.

/** The port for answers. */
export interface AnswerPort {
  postMessage(message: Answer, transfer: readonly ArrayBuffer[]): void;
}

/** The worker that has its memory to itself. */
export interface StepsWorker {
  readonly memory: WebAssembly.Memory;
  readonly maxBytes: number;
  readonly codes: CodeTable;
  readonly runTiles: typeof RunTiles;
  readonly port: AnswerPort;
  isFailed: boolean;
}

/** Takes the steps of a message, one after the other; none after one that failed. */
export function serveSteps(
  worker: StepsWorker,
  takeStep: (worker: StepsWorker, step: Step) => void,
  steps: readonly Step[],
): void {
  for (const step of steps) {
    if (worker.isFailed) return;
    try {
      takeStep(worker, step);
    } catch (fault) {
      worker.isFailed = true;
      worker.port.postMessage({ kind: 'fault', isMemory: step.kind === 'grow', text: String(fault) }, []);
    }
  }
}

/** Does one step. */
export function takeStep({ memory, maxBytes, codes, runTiles, port }: StepsWorker, step: Step): void {
  if (step.kind === 'run') {
    const run = codes(step.index, step.version, () => step.bytes as Uint8Array<ArrayBuffer>);
    new Uint32Array(memory.buffer, step.argsAddress, step.args.length).set(step.args);
    runTiles(run, step.argsAddress, step.tiles, step.scratch);
  } else if (step.kind === 'grow') {
    const pages = Math.ceil((Math.min(maxBytes, step.end) - memory.buffer.byteLength) / 65_536);
    if (pages > 0) memory.grow(pages);
  } else if (step.kind === 'write') {
    new Uint8Array(memory.buffer, step.address).set(step.bytes);
  } else {
    const bytes = new Uint8Array(memory.buffer, step.address, step.length).slice();
    port.postMessage({ kind: 'read', id: step.id, bytes }, [bytes.buffer]);
  }
}
