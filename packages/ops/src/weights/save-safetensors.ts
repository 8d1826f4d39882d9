import { BYTES_OF } from '@concord/backend-core';
import { open, rename, rm } from 'node:fs/promises';
import type { Tensor } from '../tensor/tensor.ts';
import { checkPath } from './file-source.ts';
import { layOut, readStored, type WriteOptions } from './write-safetensors.ts';

/**
 * Writes a safetensors file of tensors, one after the other: the host holds one at a time. A file of that name is
 * replaced when all is written.
 *
 * @throws {BackendError} INVALID_ARGUMENT for the names `__metadata__` and `__proto__`
 * @throws {BackendError} DEVICE_ERROR on timeout
 * @example
 * ```ts
 * await saveSafetensors(`${folder}/a.safetensors`, { x: tensor(backend, [3, 4]) });
 * const { tensors } = await readSafetensors(fileSource(`${folder}/a.safetensors`));
 * tensors[0].shape; // [2]
 * ```
 */
export async function saveSafetensors(
  path: string,
  tensors: Readonly<Record<string, Tensor>>,
  options: WriteOptions = {},
): Promise<void> {
  checkPath(path);
  const { header, order } = layOut('saveSafetensors', tensors, options);
  const unfinished = `${path}.${process.pid}.unfinished`;
  const file = await open(unfinished, 'w');
  try {
    try {
      await file.writeFile(header);
      for (const tensor of order) {
        const bytes = new Uint8Array(tensor.size * BYTES_OF[tensor.dtype]);
        await readStored(tensor, bytes, options);
        await file.writeFile(bytes);
      }
    } finally {
      await file.close();
    }
    await rename(unfinished, path);
  } catch (error) {
    await rm(unfinished, { force: true });
    throw error;
  }
}
