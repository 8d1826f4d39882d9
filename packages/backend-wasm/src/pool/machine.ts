import type { BackendError } from '@concord/backend-core';
import type { Sequence } from '@concord/backend-core/implement';
import type { Command, Launcher, WasmTraits } from '../kernels/kernel.ts';
import { ALIGNMENT, type Heap } from '../memory/heap.ts';
import { CommandList } from './command-list.ts';

/** The workers that do the work: threads that share the memory, one worker with its own memory, or none: in the call itself. */
export type WasmMode = 'threads' | 'worker' | 'inline';

/** Events that a machine reports. */
export interface MachineEvents {
  /** Work that was accepted has failed. */
  onFailure(error: BackendError): void;
  /** A worker is gone, and its work with it. */
  onLost(message: string): void;
}

/** Memory, and who works in it. Everything takes effect in the order of the calls. */
export interface Machine extends Launcher {
  readonly mode: WasmMode;
  readonly heap: Heap;
  /** The number of commands queued so far: the heap is given it when memory is freed. */
  readonly queued: number;
  /** Frees the memory of `temporary` since the last call. */
  endOp(): void;
  /**
   * Lists the commands that `work` launches, which are not queued, to queue them again and again.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  list(work: () => void): Sequence;
  /** Bytes that lists have for themselves. */
  readonly listedBytes: number;
  /** Writes a copy of the bytes. */
  write(address: number, bytes: Uint8Array): void;
  /** Delivers the bytes as they are after all that is queued, then resolves. By then `isWanted` may give false. */
  read(address: number, length: number, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean): Promise<void>;
  /** Resolves when all that is queued is done. */
  finish(isWanted: () => boolean): Promise<void>;
  /** Returns when all that is queued is done, in mode `threads`; else at once. */
  waitNow(): void;
  /** Ends the workers at once, also in the middle of a command. */
  close(): Promise<void>;
}

/** The common part of all machines: memory that lasts as long as a command or an op, and lists of commands. */
export abstract class BaseMachine implements Machine {
  abstract readonly mode: WasmMode;
  abstract readonly queued: number;
  abstract readonly heap: Heap;
  readonly traits: WasmTraits;
  protected readonly events: MachineEvents;
  /** The temporary memory of the op that is under way. */
  readonly #temporaries: number[] = [];
  /** The list that is recorded, if any: it takes the commands that are launched. */
  #list: CommandList | undefined;
  /** All that were listed and are not released. */
  readonly #lists = new Set<CommandList>();
  /** Scratch memory of all lists: their commands run one after the other. */
  #scratch = { address: 0, bytes: 0 };

  constructor(traits: WasmTraits, events: MachineEvents) {
    this.traits = traits;
    this.events = events;
  }

  launch(command: Command): void {
    const stride = Math.ceil((command.scratchBytes ?? 0) / ALIGNMENT) * ALIGNMENT;
    if (this.#list !== undefined) {
      this.#list.add(command, stride, this.traits.threads);
      return;
    }
    const scratch = stride === 0 ? 0 : this.heap.take(stride * this.traits.threads);
    try {
      this.submit(command, scratch, stride);
    } finally {
      // The next command may have the same memory: it runs after this one.
      if (stride > 0) this.heap.give(scratch, this.queued);
    }
  }

  temporary(bytes: number): number {
    if (this.#list !== undefined) return this.#list.temporary(bytes);
    const address = this.heap.take(bytes);
    this.#temporaries.push(address);
    return address;
  }

  endOp(): void {
    this.#list?.endOp();
    for (const address of this.#temporaries.splice(0)) this.heap.give(address, this.queued);
  }

  list(work: () => void): Sequence {
    const list = new CommandList(this.heap);
    this.#list = list;
    try {
      work();
      this.#reserveScratch(list.scratchBytes);
    } catch (error) {
      list.release(this.queued);
      throw error;
    } finally {
      this.#list = undefined;
    }
    this.#lists.add(list);
    return {
      run: () => {
        for (const { command, stride } of list.commands) this.submit(command, this.#scratch.address, stride);
      },
      release: () => this.#release(list),
    };
  }

  get listedBytes(): number {
    return [...this.#lists].reduce((sum, { bytes }) => sum + bytes, this.#scratch.bytes);
  }

  abstract write(address: number, bytes: Uint8Array): void;
  abstract read(
    address: number,
    length: number,
    deliver: (bytes: Uint8Array) => void,
    isWanted: () => boolean,
  ): Promise<void>;
  abstract finish(isWanted: () => boolean): Promise<void>;
  abstract close(): Promise<void>;

  waitNow(): void {}

  /** Queues a command; each thread has `stride` bytes for itself from `scratch` on. */
  protected abstract submit(command: Command, scratch: number, stride: number): void;

  #reserveScratch(bytes: number): void {
    if (bytes <= this.#scratch.bytes) return;
    const address = this.heap.take(bytes);
    this.#giveScratch();
    this.#scratch = { address, bytes };
  }

  #release(list: CommandList): void {
    list.release(this.queued);
    this.#lists.delete(list);
    if (this.#lists.size === 0) this.#giveScratch();
  }

  #giveScratch(): void {
    if (this.#scratch.bytes > 0) this.heap.give(this.#scratch.address, this.queued);
    this.#scratch = { address: 0, bytes: 0 };
  }
}
