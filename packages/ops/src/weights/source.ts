import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { keptSource } from './kept-source.ts';
import { type ResponseLike, responseSource, type UrlLike, urlSource } from './response-source.ts';
import type { WeightCache } from './weight-cache.ts';

/** The used part of a `Blob`, such as a `File` that was dropped on a page. */
export interface BlobLike {
  readonly size: number;
  slice(from: number, to: number): { arrayBuffer(): Promise<ArrayBuffer> };
}

/** A file: its bytes, a `Blob`, a `Response`, a URL (as text too), or a file by `fileSource` of `@concord/ops/node`. */
export type SafetensorsSource = ArrayBuffer | Uint8Array | BlobLike | ResponseLike | UrlLike | string | ByteSource;

const PARTS = ['get', 'put', 'delete', 'names'] as const;

/** Bytes of a `Blob` that are read at once. */
const READ_BYTES = 4 * 2 ** 20;

/**
 * The bytes of a file wherever it is, for what reads other formats.
 *
 * @param cache - where the file of a URL is kept, so that it is fetched once; others are not
 * @throws {BackendError} INVALID_ARGUMENT for anything else
 * @example
 * ```ts
 * const open = await byteSource(new Blob([new Uint8Array([1, 2, 3, 4])])).open();
 * open.size; // 4
 * await open.close();
 * ```
 */
export function byteSource(source: SafetensorsSource, cache?: WeightCache): ByteSource {
  if (cache !== undefined && PARTS.some((part) => typeof (Object(cache) as WeightCache)[part] !== 'function')) {
    throw refuse('byteSource', `cache must be a WeightCache such as pageCache(), got ${shown(cache)}`);
  }
  const fromUrl = (href: string): ByteSource => (cache === undefined ? urlSource(href) : keptSource(href, cache));
  if (typeof source === 'string') return fromUrl(source);
  if (ArrayBuffer.isView(source)) {
    return memorySource(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  }
  if (Object.prototype.toString.call(source) === '[object ArrayBuffer]') {
    return memorySource(new Uint8Array(source as ArrayBuffer));
  }
  if (typeof source === 'object' && source !== null) {
    if ('open' in source && typeof source.open === 'function' && typeof source.name === 'string') return source;
    if ('body' in source && 'ok' in source) return responseSource(source);
    if ('href' in source && typeof source.href === 'string') return fromUrl(source.href);
    if ('size' in source && 'arrayBuffer' in source) return blobSource(source);
  }
  throw refuse('byteSource', `takes bytes, a URL, a Response or a fileSource, got ${shown(source)}`);
}

function blobSource(blob: BlobLike & { readonly name?: unknown }): ByteSource {
  return {
    name: typeof blob.name === 'string' ? blob.name : `a Blob of ${blob.size} bytes`,
    open: () =>
      Promise.resolve({
        size: blob.size,
        async *pieces(from, to) {
          const end = Math.min(to, blob.size);
          for (let at = from; at < end; at += READ_BYTES) {
            yield new Uint8Array(await blob.slice(at, Math.min(at + READ_BYTES, end)).arrayBuffer());
          }
        },
        close: () => Promise.resolve(),
      }),
  };
}
