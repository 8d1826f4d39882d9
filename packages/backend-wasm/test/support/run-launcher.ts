import type { Command, Launcher, WasmCode, WasmTraits } from '../../src/kernels/kernel.ts';

/** Bytes before all allocations: address 0 is not used. */
const BEGIN = 64;
const PAGE = 65_536;

/** Runs commands at once on the caller's thread, in a separate memory, a few tiles at a time. */
export class InlineLauncher implements Launcher {
  readonly traits: WasmTraits;
  readonly memory: WebAssembly.Memory;
  readonly #instances = new Map<WasmCode, (args: number, first: number, end: number, scratch: number) => void>();
  #top = BEGIN;
  /** The commands launched so far. */
  readonly commands: Command[] = [];

  constructor(traits: Partial<WasmTraits> = {}) {
    this.traits = { hasFma: false, isShared: false, threads: 2, ...traits };
    this.memory = new WebAssembly.Memory({ initial: 1, maximum: PAGE, shared: this.traits.isShared });
  }

  temporary(bytes: number): number {
    const address = this.#top;
    this.#top = Math.ceil((address + bytes) / 64) * 64;
    const missing = Math.ceil((this.#top - this.memory.buffer.byteLength) / PAGE);
    if (missing > 0) this.memory.grow(missing);
    return address;
  }

  /** The bytes at an address. */
  bytes(address: number, length: number): Uint8Array {
    return new Uint8Array(this.memory.buffer, address, length);
  }

  launch(command: Command): void {
    this.commands.push(command);
    const { code, words, tiles, scratchBytes = 0 } = command;
    let run = this.#instances.get(code);
    if (run === undefined) {
      const module = new WebAssembly.Module(code.bytes as BufferSource);
      const instance = new WebAssembly.Instance(module, { env: { memory: this.memory } });
      run = instance.exports['run'] as typeof run;
      this.#instances.set(code, run as NonNullable<typeof run>);
    }
    const args = this.temporary(4 * words.length);
    const scratch = this.temporary(scratchBytes);
    new Uint32Array(this.memory.buffer, args, words.length).set(words);
    for (let first = 0; first < tiles; first += 3) run?.(args, first, Math.min(tiles, first + 3), scratch);
  }
}
