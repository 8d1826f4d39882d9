import { type FileHandle, open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import type { ByteSource, OpenBytes } from './byte-source.ts';

/** Bytes that are read from a file at once. */
const READ_BYTES = 2 ** 20;

/**
 * A file, for `loadSafetensors` and `readSafetensors`: a `.safetensors`, or the `.safetensors.index.json` of
 * a model in several.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but a path
 * @example
 * ```ts
 * await saveSafetensors(`${folder}/model.safetensors`, { x: tensor(backend, [1, 2]) });
 * const { x } = await loadSafetensors(backend, fileSource(`${folder}/model.safetensors`));
 * await x.toArray(); // [1, 2]
 * ```
 */
export function fileSource(path: string): ByteSource {
  checkPath(path);
  return {
    name: path,
    open: () => openFile(path),
    beside: (file) => fileSource(join(dirname(path), file)),
  };
}

/** @throws {BackendError} INVALID_ARGUMENT for anything but text */
export function checkPath(path: unknown): void {
  if (typeof path === 'string') return;
  throw refuse('fileSource', `takes the path of a file, got ${shown(path)}`, {
    hint: 'fileURLToPath(url) of a file URL',
  });
}

async function openFile(path: string): Promise<OpenBytes> {
  let file: FileHandle;
  try {
    file = await open(path);
  } catch (cause) {
    throw refuse('fileSource', `cannot open ${path}: ${(cause as Error).message}`, { cause });
  }
  const { size } = await file.stat();
  return {
    size,
    async *pieces(from, to) {
      const buffer = new Uint8Array(Math.min(READ_BYTES, to - from));
      for (let at = from; at < to;) {
        const { bytesRead } = await file.read(buffer, 0, Math.min(buffer.length, to - at), at);
        if (bytesRead === 0) return;
        yield buffer.subarray(0, bytesRead);
        at += bytesRead;
      }
    },
    close: () => file.close(),
  };
}
