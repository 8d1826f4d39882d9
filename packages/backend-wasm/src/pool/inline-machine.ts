import { BackendError } from '@concord/backend-core';
import type { Command, WasmTraits } from '../kernels/kernel.ts';
import { Heap } from '../memory/heap.ts';
import { growTo, makeMemory } from '../memory/linear-memory.ts';
import { BaseMachine, type MachineEvents } from './machine.ts';
import { CodeRegistry } from './code-registry.ts';
import { type CodeTable, makeCodeTable, runTiles } from './code-table.ts';
import { HEAP_START } from './layout.ts';

/** No workers: each command runs to its end in the call. */
export class InlineMachine extends BaseMachine {
  readonly mode = 'inline';
  readonly queued = 0;
  readonly #linear = makeMemory(false);
  readonly heap: Heap = new Heap(HEAP_START, (end) => growTo(this.#linear, end));
  readonly #table: CodeTable = makeCodeTable(this.#linear.memory);
  // Codes stay where they are: in the hands of the caller.
  readonly #codes = new CodeRegistry(
    () => 0,
    () => undefined,
  );

  constructor(traits: WasmTraits, events: MachineEvents) {
    super(traits, events);
  }

  write(address: number, bytes: Uint8Array): void {
    this.#bytesAt(address, bytes.byteLength).set(bytes);
  }

  async read(address: number, length: number, deliver: (bytes: Uint8Array) => void): Promise<void> {
    deliver(this.#bytesAt(address, length));
  }

  async finish(): Promise<void> {}

  async close(): Promise<void> {}

  protected submit({ code, args, tiles }: Command, scratch: number): void {
    const { index, version } = this.#codes.nameOf(code);
    const argsAddress = this.heap.take(args.length * 4);
    try {
      const run = this.#table(index, version, () => new Uint8Array(code.bytes));
      new Uint32Array(this.#linear.memory.buffer, argsAddress, args.length).set(args);
      runTiles(run, argsAddress, tiles, scratch);
    } catch (cause) {
      const failure = new BackendError('DEVICE_ERROR', `a kernel failed: ${String(cause)}`, { cause });
      this.events.onFailure(failure);
      throw failure;
    } finally {
      this.heap.give(argsAddress, 0);
    }
  }

  #bytesAt(address: number, length: number): Uint8Array {
    return new Uint8Array(this.#linear.memory.buffer, address, length);
  }
}
