import { BackendError } from '@concord/backend-core';
import type { Command, WasmTraits } from '../kernels/kernel.ts';
import { Heap } from '../memory/heap.ts';
import { BaseMachine, type MachineEvents } from './machine.ts';
import { CodeRegistry } from './code-registry.ts';
import { HEAP_START } from './layout.ts';
import type { Answer, Step } from './serve-steps.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** Steps that are collected before they are sent: a message costs as much as several small kernels. */
const MAX_STEPS = 64;

interface Waiting {
  readonly resolve: (bytes: Uint8Array) => void;
  readonly reject: (error: BackendError) => void;
}

/** One worker that has its memory to itself, where memory cannot be shared. Everything goes by messages. */
export class StepsMachine extends BaseMachine {
  readonly mode = 'worker';
  // Always 0 for the heap: nothing is written from outside of the queue, writes are messages too.
  readonly queued = 0;
  readonly heap: Heap;
  readonly #worker: WorkerHandle;
  readonly #maxBytes: number;
  // The worker keeps the codes that it knows: those up to the newest version.
  readonly #codes = new CodeRegistry(
    () => 0,
    () => undefined,
  );
  #newest = 0;
  #reached: number;
  #steps: Step[] = [];
  #transfer: ArrayBuffer[] = [];
  #isFlushing = false;
  #nextRead = 0;
  readonly #reads = new Map<number, Waiting>();
  #failure: BackendError | undefined;

  /**
   * @param worker - which is ready; its answers are given to {@link onAnswer}
   * @param firstBytes - how large its memory is
   */
  constructor(
    worker: WorkerHandle,
    { firstBytes, maxBytes }: { readonly firstBytes: number; readonly maxBytes: number },
    traits: WasmTraits,
    events: MachineEvents,
  ) {
    super(traits, events);
    this.#worker = worker;
    this.#maxBytes = maxBytes;
    this.#reached = firstBytes;
    this.heap = new Heap(HEAP_START, (end) => this.#reserve(end));
  }

  /** Takes an answer of the worker. */
  onAnswer(answer: Answer): void {
    if (answer.kind === 'read') {
      this.#reads.get(answer.id)?.resolve(answer.bytes);
      this.#reads.delete(answer.id);
      if (this.#reads.size === 0) this.#worker.unref();
    } else if (answer.kind === 'fault') {
      const code = answer.isMemory ? 'OUT_OF_MEMORY' : 'DEVICE_ERROR';
      this.#failure = new BackendError(code, `a kernel failed: ${answer.text}`);
      this.events.onFailure(this.#failure);
      for (const { reject } of this.#reads.values()) reject(this.#failure);
      this.#reads.clear();
      this.#worker.unref();
    }
  }

  write(address: number, bytes: Uint8Array): void {
    const own = new Uint8Array(bytes);
    this.#transfer.push(own.buffer);
    this.#add({ kind: 'write', address, bytes: own });
  }

  async read(address: number, length: number, deliver: (bytes: Uint8Array) => void): Promise<void> {
    deliver(await this.#ask(address, length));
  }

  async finish(): Promise<void> {
    await this.#ask(0, 0);
  }

  async close(): Promise<void> {
    await this.#worker.terminate();
  }

  protected submit({ code, args, tiles }: Command, scratch: number): void {
    const { index, version } = this.#codes.nameOf(code);
    const bytes = version > this.#newest ? new Uint8Array(code.bytes) : undefined;
    this.#newest = Math.max(this.#newest, version);
    const argsAddress = this.heap.take(args.length * 4);
    this.heap.give(argsAddress, 0);
    this.#add({ kind: 'run', index, version, bytes, argsAddress, args: Uint32Array.from(args), tiles, scratch });
  }

  #ask(address: number, length: number): Promise<Uint8Array> {
    if (this.#failure !== undefined) return Promise.reject(this.#failure);
    const id = this.#nextRead++;
    this.#worker.ref();
    return new Promise((resolve, reject) => {
      this.#reads.set(id, { resolve, reject });
      this.#add({ kind: 'read', id, address, length });
      this.#flush();
    });
  }

  #add(step: Step): void {
    this.#steps.push(step);
    if (this.#steps.length >= MAX_STEPS) this.#flush();
    else if (!this.#isFlushing) {
      this.#isFlushing = true;
      queueMicrotask(() => {
        this.#isFlushing = false;
        this.#flush();
      });
    }
  }

  #flush(): void {
    if (this.#steps.length === 0) return;
    this.#worker.post(this.#steps, this.#transfer);
    this.#steps = [];
    this.#transfer = [];
  }

  #reserve(end: number): void {
    if (end > this.#maxBytes) {
      throw new BackendError('OUT_OF_MEMORY', `${end} bytes exceed the ${this.#maxBytes} of the address space`, {
        limitBytes: this.#maxBytes,
      });
    }
    if (end <= this.#reached) return;
    this.#reached = Math.min(this.#maxBytes, Math.max(end, this.#reached + this.#reached / 8));
    this.#add({ kind: 'grow', end: this.#reached });
  }
}
