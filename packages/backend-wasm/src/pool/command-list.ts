import type { Command } from '../kernels/kernel.ts';
import type { Heap } from '../memory/heap.ts';

/** A command of a {@link CommandList}. */
export interface ListedCommand {
  readonly command: Command;
  /** Bytes of scratch memory that each thread has. */
  readonly stride: number;
}

interface Block {
  readonly address: number;
  readonly bytes: number;
}

/** Commands that are queued again and again, and the memory that they use besides their operands. */
export class CommandList {
  readonly commands: ListedCommand[] = [];
  /** The address of the scratch memory of all of them: they run one after the other. */
  scratch = 0;
  readonly #heap: Heap;
  readonly #taken: number[] = [];
  /** Temporaries of the op that is listed, and those of the ops before it, which it may use again. */
  #used: Block[] = [];
  #free: Block[] = [];
  #scratchBytes = 0;

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Adds a command, whose words are copied. */
  add(command: Command, stride: number, threads: number): void {
    this.#scratchBytes = Math.max(this.#scratchBytes, stride * threads);
    this.commands.push({ command: { ...command, words: Uint32Array.from(command.words) }, stride });
  }

  /** @throws {BackendError} OUT_OF_MEMORY */
  temporary(bytes: number): number {
    const index = this.#free.findIndex((block) => block.bytes >= bytes);
    const block = index < 0 ? this.#take(bytes) : (this.#free.splice(index, 1)[0] as Block);
    this.#used.push(block);
    return block.address;
  }

  endOp(): void {
    this.#free.push(...this.#used.splice(0));
  }

  /**
   * To be called after the last command.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  finish(): void {
    if (this.#scratchBytes > 0) this.scratch = this.#take(this.#scratchBytes).address;
  }

  /** Gives the memory back. */
  release(queued: number): void {
    for (const address of this.#taken.splice(0)) this.#heap.give(address, queued);
  }

  #take(bytes: number): Block {
    const address = this.#heap.take(bytes);
    this.#taken.push(address);
    return { address, bytes };
  }
}
