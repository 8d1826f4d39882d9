import { setFlagsFromString } from 'node:v8';
import type { TestMemory } from '../../../backend-cpu/test/op-memory.ts';
import type { Operand } from '@concord/backend-core/implement';
import { f32x4, i32x4, ModuleBuilder } from '../../src/encoder/index.ts';
import type { Command, Launcher, WasmBuffer, WasmCode, WasmTraits } from '../../src/kernels/kernel.ts';

type Run = (args: number, first: number, end: number, scratch: number) => void;

/** Below are the words of a command; memory for operands begins here. */
const BEGIN = 4096;

// Node 20 has relaxed SIMD only with this flag; newer versions have it without a flag.
setFlagsFromString('--experimental-wasm-relaxed-simd');

function hasRelaxed(): boolean {
  const module = new ModuleBuilder({ shared: false });
  const zero = i32x4.splat(0);
  module.function({ params: [], result: 'none' }, (body) => body.drop(f32x4.relaxedMadd(zero, zero, zero)));
  return WebAssembly.validate(module.toBytes());
}

/** The traits that this engine can run: without multiply-add, and with it where the engine has it. */
export const TRAITS: readonly WasmTraits[] = [
  { hasFma: false, isShared: true, threads: 2 },
  ...(hasRelaxed() ? [{ hasFma: true, isShared: false, threads: 1 }] : []),
];

/**
 * Runs commands of kernels at once, on this thread, in a separate memory. The scratch memory of a command is filled with NaN, and
 * the second half of its tiles is done before the first.
 */
export class KernelLauncher implements Launcher {
  readonly traits: WasmTraits;
  readonly memory: WebAssembly.Memory;
  readonly #runs = new Map<WasmCode, Run>();
  #used = BEGIN;

  constructor(traits: WasmTraits, megabytes = 16) {
    this.traits = traits;
    this.memory = new WebAssembly.Memory({ initial: 16 * megabytes, maximum: 65_536, shared: traits.isShared });
  }

  launch({ code, args, tiles, scratchBytes = 0 }: Command): void {
    const scratch = this.temporary(scratchBytes);
    new Uint32Array(this.memory.buffer, 64, args.length).set(args);
    const run = this.#runOf(code);
    const half = Math.floor(tiles / 2);
    for (const [first, end] of [
      [half, tiles],
      [0, half],
    ] as const) {
      new Uint8Array(this.memory.buffer, scratch, scratchBytes).fill(0xff);
      if (end > first) run(64, first, end, scratch);
    }
    this.#used = scratch;
  }

  temporary(bytes: number): number {
    const address = this.#used;
    this.#used = Math.ceil((address + bytes) / 64) * 64;
    return address;
  }

  /** Runs something, and then takes back all memory. */
  reset(run: () => void): void {
    run();
    this.#used = BEGIN;
  }

  /** The memory for the operands of a call; it is taken back by {@link reset}. An address is a multiple of 4, and of no more. */
  get operands(): TestMemory<WasmBuffer> {
    return {
      make: (bytes) => {
        const buffer = { address: this.temporary(bytes.length + 4) + 4, bytes: bytes.length };
        new Uint8Array(this.memory.buffer, buffer.address, buffer.bytes).set(bytes);
        return buffer;
      },
      read: ({ address, bytes }) => new Uint8Array(this.memory.buffer, address, bytes),
      free: () => undefined,
    };
  }

  /** An operand that holds the values, at an address that is a multiple of their size and of no more. */
  operand(values: Float32Array | Uint16Array | Uint32Array): Operand<WasmBuffer> {
    const { byteLength, BYTES_PER_ELEMENT: byteOffset } = values;
    const bytes = byteLength + 2 * byteOffset;
    const operand = { buffer: { address: this.temporary(bytes), bytes }, byteOffset, byteLength };
    this.bytes(operand).set(new Uint8Array(values.buffer, values.byteOffset, byteLength));
    return operand;
  }

  /** The bytes of an operand. */
  bytes({ buffer, byteOffset, byteLength }: Operand<WasmBuffer>): Uint8Array {
    return new Uint8Array(this.memory.buffer, buffer.address + byteOffset, byteLength);
  }

  #runOf(code: WasmCode): Run {
    let run = this.#runs.get(code);
    if (run === undefined) {
      const module = new WebAssembly.Module(code.bytes as Uint8Array<ArrayBuffer>);
      run = new WebAssembly.Instance(module, { env: { memory: this.memory } }).exports['run'] as Run;
      this.#runs.set(code, run);
    }
    return run;
  }
}
