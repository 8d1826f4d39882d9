import type { BackendError } from '@concord/backend-core';
import type { Sequence } from '@concord/backend-core/implement';
import type { Launcher } from '../kernels/kernel.ts';
import type { Heap } from '../memory/heap.ts';

/** How the work is done: by threads that share the memory, by one worker with a memory of its own, or in the call itself. */
export type WasmMode = 'threads' | 'worker' | 'inline';

/** What a machine tells of itself without being asked. */
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
  /** How many commands were queued so far: what the heap is told when memory is given back. */
  readonly queued: number;
  /** Gives back what `temporary` gave since the last call. */
  endOp(): void;
  /**
   * Lists the commands that `work` launches, which are not queued, to queue them again and again.
   *
   * @throws {BackendError} OUT_OF_MEMORY
   */
  list(work: () => void): Sequence;
  /** Writes a copy of the bytes. */
  write(address: number, bytes: Uint8Array): void;
  /** Hands over the bytes as they are behind what is queued, then resolves. Nobody may want them any more by then. */
  read(address: number, length: number, deliver: (bytes: Uint8Array) => void, isWanted: () => boolean): Promise<void>;
  /** Resolves when all that is queued is done. */
  finish(isWanted: () => boolean): Promise<void>;
  /** Ends the workers, with what they are at. */
  close(): Promise<void>;
}
