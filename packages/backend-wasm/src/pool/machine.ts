import type { BackendError } from '@concord/backend-core';
import type { Sequence } from '@concord/backend-core/implement';
import type { Launcher } from '../kernels/kernel.ts';
import type { Heap } from '../memory/heap.ts';

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
