import { BackendError, isBackendError } from '@concord/backend-core';
import type { Command, WasmCode, WasmTraits } from '../kernels/kernel.ts';
import { copyCode, copyCommand } from '../kernels/memory/ranges.ts';
import { Heap } from '../memory/heap.ts';
import { growTo, type LinearMemory } from '../memory/linear-memory.ts';
import { BaseMachine, type MachineEvents } from './machine.ts';
import { CodeRegistry } from './code-registry.ts';
import { CommandRing } from './command-ring.ts';
import { DoneWatch } from './done-watch.ts';
import { HEAP_START, SLOT_ARGS } from './layout.ts';
import { PendingReads } from './pending-reads.ts';
import type { WorkerHandle } from './worker-handle.ts';

/** Threads that share the memory with the caller, and take their commands from a ring in it. */
export class SharedMachine extends BaseMachine {
  readonly mode = 'threads';
  readonly heap: Heap;
  readonly #linear: LinearMemory;
  readonly #workers: readonly WorkerHandle[];
  readonly #ring: CommandRing;
  readonly #watch: DoneWatch;
  readonly #copyCode: WasmCode;
  readonly #codes: CodeRegistry = new CodeRegistry(
    (bytes) => this.#place(bytes),
    (address) => this.heap.give(address, this.queued),
  );
  readonly #reads: PendingReads;
  #bytes: Uint8Array;

  /** @param workers - which serve the ring of this memory */
  constructor(linear: LinearMemory, workers: readonly WorkerHandle[], traits: WasmTraits, events: MachineEvents) {
    super(traits, events);
    this.#linear = linear;
    this.#workers = workers;
    this.#ring = new CommandRing(linear.memory, workers.length, () => this.#whatIsGone(), events);
    this.#bytes = new Uint8Array(linear.memory.buffer);
    this.heap = new Heap(HEAP_START, (end) => this.#reserve(end));
    this.#watch = new DoneWatch(this.#ring, (isWaiting) => {
      for (const worker of workers)
        if (isWaiting) worker.ref();
        else worker.unref();
    });
    this.#copyCode = copyCode(traits);
    this.#reads = new PendingReads({
      done: () => this.#ring.done,
      queued: () => this.queued,
      bytesAt: (address, length) => this.#bytes.subarray(address, address + length),
      copyOut: (address, length, freeSince) => this.#copyOut(address, length, freeSince),
      waitFor: (target) => this.#ring.waitUntil(() => this.#ring.done >= target, target),
      give: (address) => this.heap.give(address, this.queued),
    });
  }

  get queued(): number {
    return this.#ring.queued;
  }

  write(address: number, bytes: Uint8Array): void {
    this.#reads.beforeChange();
    const staging = this.#isIdle() ? undefined : this.#takeIdle(bytes.byteLength);
    if (staging === undefined) this.#bytes.set(bytes, address);
    else {
      this.#bytes.set(bytes, staging);
      this.#push(copyCommand(this.#copyCode, address, staging, bytes.byteLength));
      this.heap.give(staging, this.queued);
    }
  }

  read(address: number, length: number, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean): Promise<void> {
    return this.#reads.read(address, length, deliver, (target) => this.#until(target, isWanted));
  }

  finish(isWanted: () => boolean): Promise<void> {
    return this.#until(this.queued, isWanted);
  }

  override waitNow(): void {
    this.#ring.waitUntil(() => this.#isIdle(), this.queued);
  }

  async close(): Promise<void> {
    await Promise.all(this.#workers.map((worker) => worker.terminate()));
    this.#watch.close();
  }

  protected submit(command: Command, scratch: number, stride: number): void {
    this.#reads.beforeChange();
    this.#push(command, scratch, stride);
  }

  #push({ code, args, tiles }: Command, scratch = 0, stride = 0): void {
    const fault = this.#fault();
    if (fault !== undefined) {
      this.events.onFailure(fault);
      throw fault;
    }
    const { index, version, address } = this.#codes.nameOf(code);
    const argsAddress = args.length > SLOT_ARGS ? this.#placeArgs(args) : undefined;
    this.#ring.push({
      tiles,
      codeIndex: index,
      codeVersion: version,
      codeAddress: address,
      codeBytes: code.bytes.byteLength,
      scratchAddress: scratch,
      scratchBytes: stride,
      args,
      argsAddress,
    });
    if (argsAddress !== undefined) this.heap.give(argsAddress, this.queued);
  }

  async #until(target: number, isWanted: () => boolean): Promise<void> {
    await this.#watch.until(target, isWanted);
    const fault = this.#fault();
    if (fault !== undefined) throw fault;
  }

  #fault(): BackendError | undefined {
    const text = this.#ring.fault();
    if (text === undefined) return undefined;
    return new BackendError('DEVICE_ERROR', `a kernel failed: ${text}`);
  }

  #whatIsGone(): string | undefined {
    const index = this.#workers.findIndex((worker) => worker.isGone());
    return index < 0 ? undefined : `worker ${index + 1} of ${this.#workers.length} is gone: it takes no more messages`;
  }

  #isIdle(): boolean {
    return this.#ring.done === this.queued;
  }

  #copyOut(address: number, length: number, freeSince: number): number | undefined {
    return this.#ifThereIsMemory(() => {
      const to = this.heap.take(length, freeSince);
      try {
        this.#push(copyCommand(this.#copyCode, to, address, length));
        return to;
      } catch (error) {
        this.heap.give(to, this.queued);
        throw error;
      }
    });
  }

  /** Memory that nothing queued uses; undefined, and everything queued is done, if there is none. */
  #takeIdle(bytes: number): number | undefined {
    const address = this.#ifThereIsMemory(() => this.heap.take(bytes, this.#reads.idle()));
    if (address === undefined) this.#ring.waitUntil(() => this.#isIdle(), this.queued);
    return address;
  }

  #ifThereIsMemory(take: () => number): number | undefined {
    try {
      return take();
    } catch (error) {
      if (isBackendError(error, 'OUT_OF_MEMORY')) return undefined;
      throw error;
    }
  }

  /** Memory that may be written at once: not the freed source of a read, also where everything queued is done. */
  #place(bytes: Uint8Array): number {
    const address = this.#takeIdle(bytes.byteLength) ?? this.heap.take(bytes.byteLength, this.#reads.idle());
    this.#bytes.set(bytes, address);
    return address;
  }

  #placeArgs(args: Command['args']): number {
    const own = Uint32Array.from(args);
    return this.#place(new Uint8Array(own.buffer));
  }

  #reserve(end: number): void {
    growTo(this.#linear, end);
    if (this.#bytes.byteLength < end) this.#bytes = new Uint8Array(this.#linear.memory.buffer);
  }
}
