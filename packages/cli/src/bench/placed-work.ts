import { type ComputeBackend, type DevicePtr, download, NULL_PTR, offsetPtr } from '@concord/backend-core';
import type { BenchWork } from './bench-case.ts';
import { bytesOf, copyOperand, type OperandType } from './operand.ts';

/** A case on a device, ready to run. */
export interface PlacedWork {
  /** Queues one call; its promise, if any, is awaited before the next one. */
  call(): Promise<void> | void;
  /** Reads a word of the output, which comes after all work that is queued. */
  touch(): Promise<void>;
  /** These entries of the output. */
  entries(indices: readonly number[]): Promise<readonly number[]>;
  free(): void;
}

/**
 * Makes the operands of a case on a device. The output is full of NaN, so that missing elements cannot look right.
 *
 * @throws {BackendError} OUT_OF_MEMORY where they do not fit; nothing stays allocated
 */
export function placeWork(work: BenchWork, backend: ComputeBackend): PlacedWork {
  const pointers: DevicePtr[] = [];
  const { inputs, outputLength, outputDtype } = work;
  const alloc = (bytes: number): DevicePtr => {
    const ptr = backend.alloc(bytes);
    pointers.push(ptr);
    return ptr;
  };
  const free = (): void => {
    for (const ptr of pointers.splice(0)) backend.free(ptr);
  };
  try {
    for (const input of inputs) copyOperand(backend, alloc(input.length * bytesOf(input.dtype)), input);
    const bytes = outputLength * bytesOf(outputDtype);
    const output = bytes === 0 ? NULL_PTR : alloc(bytes);
    if (bytes > 0) backend.fill(output, 0xff, bytes);
    const word = new Uint8Array(Math.min(4, bytes));
    return {
      call: () => work.call(backend, (index) => pointers[index] ?? NULL_PTR, output),
      touch: async () => {
        if (bytes > 0) await backend.copyDtoh(word, output);
      },
      entries: async (indices) => {
        const host = work.hostResult?.();
        if (host !== undefined) return indices.map((index) => host[index] as number);
        const at = (index: number): DevicePtr => offsetPtr(output, index * bytesOf(outputDtype));
        return Promise.all(indices.map((index) => readEntry(backend, at(index), outputDtype)));
      },
      free,
    };
  } catch (error) {
    free();
    throw error;
  }
}

async function readEntry(backend: ComputeBackend, ptr: DevicePtr, dtype: OperandType): Promise<number> {
  if (dtype !== 'u32') return (await download(backend, ptr, 1, { dtype }))[0] as number;
  const word = new Uint32Array(1);
  await backend.copyDtoh(word, ptr);
  return word[0] as number;
}
