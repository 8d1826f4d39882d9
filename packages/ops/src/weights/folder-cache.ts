import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { checkPath } from './file-source.ts';
import { maxBytesOf, type WeightCache, type WeightCacheOptions } from './weight-cache.ts';

/**
 * Keeps weights in a folder, which is made with the first of them and holds nothing else.
 *
 * @throws {BackendError} INVALID_ARGUMENT for anything but a path
 * @example
 * ```ts
 * const cache = folderCache(`${folder}/weights`, { maxBytes: 2 ** 33 });
 * cache.maxBytes; // 8589934592
 * // loadSafetensors(backend, 'https://example.org/model.safetensors', { cache }) fetches that file once.
 * ```
 */
export function folderCache(path: string, options: WeightCacheOptions = {}): WeightCache {
  checkPath(path);
  const maxBytes = maxBytesOf('folderCache', options);
  const absent = (error: NodeJS.ErrnoException): undefined => {
    if (error.code !== 'ENOENT') throw error;
  };
  return {
    maxBytes,
    get: (name) => readFile(join(path, name)).catch(absent),
    async put(name, bytes) {
      await mkdir(path, { recursive: true });
      await writeFile(join(path, name), bytes);
    },
    delete: (name) => rm(join(path, name), { force: true }),
    names: async () => (await readdir(path).catch(absent)) ?? [],
  };
}
