/** A piece of the one linear memory that all kernels work in. */
export interface WasmBuffer {
  /** The start, in bytes from the start of the memory: a multiple of 64, below 2^32. */
  readonly address: number;
  /** The size in bytes. */
  readonly bytes: number;
}

/**
 * The code of a kernel: a module that imports `env.memory` and exports `run(args, first, end, scratch)`, four i32. The
 * object itself is the key under which the pool knows the code, so one is made once and kept.
 */
export interface WasmCode {
  readonly bytes: Uint8Array;
}

/**
 * One launch. Its tiles are shared out among the threads, each call of `run` getting a range `first` to `end` - 1 of them; the
 * next command begins when all tiles of this one are done.
 */
export interface Command {
  readonly code: WasmCode;
  /** The 32-bit words that `run` finds at `args`: addresses, sizes, the bits of floats. */
  readonly args: Uint32Array | readonly number[];
  /** The number of tiles, at least 1. */
  readonly tiles: number;
  /** Bytes that each thread has for itself at `scratch`, 64-byte aligned: packed panels. 0 if left out. */
  readonly scratchBytes?: number;
}

/** The properties of the machine that kernels depend on. */
export interface WasmTraits {
  /** True if the engine has relaxed SIMD, whose multiply-add rounds once. */
  readonly hasFma: boolean;
  /** True if modules have to import a shared memory. */
  readonly isShared: boolean;
  /** The number of threads that take tiles. */
  readonly threads: number;
}

/** Takes the commands of kernels. */
export interface Launcher {
  readonly traits: WasmTraits;
  /** Queues a command after those launched before. */
  launch(command: Command): void;
  /**
   * Memory for the commands of this op: an address, 64-byte aligned, that is freed after the commands of the op.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  temporary(bytes: number): number;
}
