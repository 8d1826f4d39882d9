import { isNode } from '../engine/host.ts';
import { workerSource } from './worker-source.ts';

/** The reason for the end of a worker if the browser gives none. */
export const NOT_LOADED = 'its source could not be loaded';

/** A worker, of Node or of the web. */
export interface WorkerHandle {
  post(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  /** Listens to the worker's messages; `onEnd` is called once, with the reason, if the worker ends without `terminate`. */
  listen(onMessage: (data: unknown) => void, onEnd: (why: string) => void): void;
  /** Keeps the process alive, as it is at the start. */
  ref(): void;
  unref(): void;
  /** True if the worker is known to have ended, also where no event was taken since; false where only events tell. */
  isGone(): boolean;
  terminate(): Promise<void>;
}

interface NodeWorker {
  postMessage(message: unknown, transfer?: readonly ArrayBuffer[]): void;
  on(event: 'message' | 'messageerror' | 'error' | 'exit', listener: (value: unknown) => void): void;
  ref(): void;
  unref(): void;
  terminate(): Promise<unknown>;
}

interface NodePort {
  /** Node gives false where the thread of the other end is gone; its documentation does not say so. */
  postMessage(message: unknown): unknown;
  once(event: 'close', listener: () => void): void;
}

interface WorkerThreads {
  readonly Worker: new (source: string | URL, options: object) => NodeWorker;
  readonly MessageChannel: new () => { readonly port1: NodePort; readonly port2: NodePort };
}

/** Node's module, in Node, Deno and Bun; reached without an import, so that bundles for browsers need not know. */
function workerThreads(): WorkerThreads | undefined {
  const { process } = globalThis as { process?: { getBuiltinModule?(name: string): WorkerThreads | undefined } };
  return process?.getBuiltinModule?.('node:worker_threads');
}

/** True if the host has workers. */
export function hasWorkers(): boolean {
  return workerThreads() !== undefined || typeof Worker === 'function';
}

/** Starts workers, from the URL or from the source that is part of this package. Throws the engine's errors. */
export function startWorkers(count: number, url?: string): WorkerHandle[] {
  const node = workerThreads();
  if (node !== undefined) return Array.from({ length: count }, () => nodeHandle(node, url));
  const source = url ?? (sourceUrl ??= URL.createObjectURL(new Blob([workerSource()], { type: 'text/javascript' })));
  return Array.from({ length: count }, () => webHandle(new Worker(source, { type: 'module', name: 'concord-wasm' })));
}

/** Made once for all backends, and kept: a URL may be needed again as long as the page lives. */
let sourceUrl: string | undefined;

function nodeHandle({ Worker: NodeWorker, MessageChannel: Channel }: WorkerThreads, url?: string): NodeWorkerHandle {
  const channel = isNode() ? new Channel() : undefined;
  // The worker holds its end as long as it runs, and does not use it.
  const held = channel === undefined ? {} : { workerData: channel.port2, transferList: [channel.port2] };
  const options = { name: 'concord-wasm', execArgv: [], ...held };
  const worker =
    url === undefined
      ? new NodeWorker(workerSource(), { ...options, eval: true })
      : new NodeWorker(new URL(url), options);
  return new NodeWorkerHandle(worker, channel?.port1);
}

class NodeWorkerHandle implements WorkerHandle {
  readonly #worker: NodeWorker;
  readonly #port: NodePort | undefined;
  #isEnded = false;
  #isPortClosed = false;

  /** @param port - whose other end the worker has */
  constructor(worker: NodeWorker, port: NodePort | undefined) {
    this.#worker = worker;
    this.#port = port;
    port?.once('close', () => {
      this.#isPortClosed = true;
    });
  }

  post(message: unknown, transfer: readonly ArrayBuffer[] = []): void {
    this.#worker.postMessage(message, transfer);
  }

  listen(onMessage: (data: unknown) => void, onEnd: (why: string) => void): void {
    const end = (why: string): void => {
      if (!this.#isEnded) onEnd(why);
      this.#isEnded = true;
    };
    this.#worker.on('message', onMessage);
    this.#worker.on('messageerror', (error) => end(String(error)));
    this.#worker.on('error', (error) => end(String(error)));
    this.#worker.on('exit', (code) => end(`it ended with exit code ${String(code)}`));
  }

  ref(): void {
    this.#worker.ref();
  }

  unref(): void {
    this.#worker.unref();
  }

  isGone(): boolean {
    return this.#isPortClosed || this.#port?.postMessage(null) === false;
  }

  async terminate(): Promise<void> {
    this.#isEnded = true;
    await this.#worker.terminate();
  }
}

function webHandle(worker: Worker): WorkerHandle {
  return {
    post: (message, transfer = []) => worker.postMessage(message, [...transfer]),
    listen: (onMessage, onEnd) => {
      worker.onmessage = ({ data }) => onMessage(data);
      worker.onmessageerror = () => onEnd('a message could not be read');
      worker.onerror = (event) => {
        event.preventDefault();
        onEnd(event.message || NOT_LOADED);
      };
    },
    ref: () => undefined,
    unref: () => undefined,
    isGone: () => false,
    terminate: async () => worker.terminate(),
  };
}
