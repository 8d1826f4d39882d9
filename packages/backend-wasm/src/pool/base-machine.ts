import type { Sequence } from '@concord/backend-core/implement';
import type { Command, WasmTraits } from '../kernels/kernel.ts';
import { ALIGNMENT, type Heap } from '../memory/heap.ts';
import { CommandList } from './command-list.ts';
import type { Machine, MachineEvents, WasmMode } from './machine.ts';

/** The common part of all machines: memory that lasts as long as a command or an op, and lists of commands. */
export abstract class BaseMachine implements Machine {
  abstract readonly mode: WasmMode;
  abstract readonly queued: number;
  abstract readonly heap: Heap;
  readonly traits: WasmTraits;
  protected readonly events: MachineEvents;
  /** Of the op that is under way. */
  readonly #temporaries: number[] = [];
  /** The list that is recorded, if any: it takes the commands that are launched. */
  #list: CommandList | undefined;

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
      list.finish();
    } catch (error) {
      list.release(this.queued);
      throw error;
    } finally {
      this.#list = undefined;
    }
    return {
      run: () => {
        for (const { command, stride } of list.commands) this.submit(command, list.scratch, stride);
      },
      release: () => list.release(this.queued),
    };
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

  /** Queues a command; each thread has `stride` bytes for itself from `scratch` on. */
  protected abstract submit(command: Command, scratch: number, stride: number): void;
}
