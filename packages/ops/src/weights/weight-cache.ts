import { BackendError } from '@concord/backend-core';
import { checkOptions, shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';

/**
 * A store of fetched files, in pieces of a few megabytes by name. Pieces may vanish or be damaged at any time: each is
 * checked when it is read, and fetched again.
 */
export interface WeightCache {
  get(name: string): Promise<Uint8Array | undefined>;
  /**
   * Stores a piece. Rejects with a `QuotaExceededError` if there is no room: the files that were not used for longest
   * are then removed.
   */
  put(name: string, bytes: Uint8Array): Promise<void>;
  delete(name: string): Promise<void>;
  names(): Promise<readonly string[]>;
  /** Bytes of all files at most; those that were not used for longest are removed. */
  readonly maxBytes: number;
}

/** Options of a {@link WeightCache}. */
export interface WeightCacheOptions {
  /** Bytes of all files at most. Default: as many as there is room for. */
  readonly maxBytes?: number;
}

/** @throws {BackendError} INVALID_ARGUMENT */
export function maxBytesOf(op: string, options: WeightCacheOptions): number {
  checkOptions(op, options, { maxBytes: 'any' });
  const { maxBytes = Infinity } = options;
  if (typeof maxBytes === 'number' && maxBytes >= 0) return maxBytes;
  throw refuse(op, `maxBytes must be a number of bytes, got ${shown(maxBytes)}`);
}

/** The used part of a browser's Cache. */
interface CacheLike {
  match(url: string): Promise<Response | undefined>;
  put(url: string, response: Response): Promise<void>;
  delete(url: string): Promise<boolean>;
  keys(): Promise<readonly { readonly url: string }[]>;
}

/** An address that no server has. */
const ADDRESS = 'https://weights.invalid/';

/**
 * Keeps weights in the browser, for this origin, by its Cache API: in pages and workers.
 *
 * @param name - of the cache; caches of other names know nothing of each other
 * @throws {BackendError} INVALID_ARGUMENT for what is not a name
 * @throws {BackendError} UNSUPPORTED if there is no Cache API: in Node, and in pages that are not of a secure context
 * @example
 * ```ts
 * // For `loadSafetensors(backend, url, { cache })`.
 * const cache = pageCache('my-model', { maxBytes: 2e9 });
 * cache.maxBytes; // 2e9
 * ```
 */
export function pageCache(name = 'concord-weights', options: WeightCacheOptions = {}): WeightCache {
  const maxBytes = maxBytesOf('pageCache', options);
  if (typeof name !== 'string') throw refuse('pageCache', `takes the name of a cache, got ${shown(name)}`);
  const { caches } = globalThis as { readonly caches?: { open(name: string): Promise<CacheLike> } };
  if (caches === undefined) {
    throw new BackendError('UNSUPPORTED', 'pageCache: there is no Cache API here', {
      op: 'pageCache',
      hint: 'serve the page over https or from localhost; in Node, folderCache(path) of @concord/ops/node',
    });
  }
  const opened = caches.open(name);
  opened.catch(() => undefined);
  return {
    maxBytes,
    async get(piece) {
      const found = await (await opened).match(ADDRESS + piece);
      return found && new Uint8Array(await found.arrayBuffer());
    },
    put: async (piece, bytes) => (await opened).put(ADDRESS + piece, new Response(bytes as Uint8Array<ArrayBuffer>)),
    delete: async (piece) => void (await (await opened).delete(ADDRESS + piece)),
    names: async () => (await (await opened).keys()).map(({ url }) => url.slice(ADDRESS.length)),
  };
}
