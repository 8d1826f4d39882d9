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
  /** Scratch memory that the largest of them needs: they run one after the other. */
  scratchBytes = 0;
  readonly #heap: Heap;
  #taken: Block[] = [];
  /** Temporaries of the op that is listed, and those of the ops before it, which it may use again. */
  #used: Block[] = [];
  #free: Block[] = [];

  constructor(heap: Heap) {
    this.#heap = heap;
  }

  /** Adds a command, whose arguments are copied. */
  add(command: Command, stride: number, threads: number): void {
    this.scratchBytes = Math.max(this.scratchBytes, stride * threads);
    this.commands.push({ command: { ...command, args: Uint32Array.from(command.args) }, stride });
  }

  /** Bytes that it has besides scratch memory. */
  get bytes(): number {
    return this.#taken.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** @throws {BackendError} OUT_OF_MEMORY */
  temporary(bytes: number): number {
    const [smallest] = this.#free.filter((block) => block.bytes >= bytes).sort((a, b) => a.bytes - b.bytes);
    const block = smallest ?? this.#take(bytes);
    this.#free = this.#free.filter((other) => other !== block);
    this.#used.push(block);
    return block.address;
  }

  endOp(): void {
    this.#free.push(...this.#used.splice(0));
  }

  /** Gives the memory back. */
  release(queued: number): void {
    for (const { address } of this.#taken) this.#heap.give(address, queued);
    this.#taken = [];
  }

  #take(bytes: number): Block {
    const block = { address: this.#heap.take(bytes), bytes };
    this.#taken.push(block);
    return block;
  }
}
