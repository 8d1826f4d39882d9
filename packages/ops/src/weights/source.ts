import { shown } from '../tensor/arguments.ts';
import { refuse } from '../tensor/errors.ts';
import { type ByteSource, memorySource } from './byte-source.ts';
import { type ResponseLike, responseSource, type UrlLike, urlSource } from './response-source.ts';

/** A safetensors file: its bytes, a `Response`, a URL (as text too), or a file by `fileSource` of `@concord/ops/node`. */
export type SafetensorsSource = ArrayBuffer | Uint8Array | ResponseLike | UrlLike | string | ByteSource;

/** @throws {BackendError} INVALID_ARGUMENT for anything else */
export function sourceOf(source: SafetensorsSource): ByteSource {
  if (typeof source === 'string') return urlSource(source);
  if (ArrayBuffer.isView(source)) {
    return memorySource(new Uint8Array(source.buffer, source.byteOffset, source.byteLength));
  }
  if (Object.prototype.toString.call(source) === '[object ArrayBuffer]') {
    return memorySource(new Uint8Array(source as ArrayBuffer));
  }
  if (typeof source === 'object' && source !== null) {
    if ('open' in source && typeof source.open === 'function' && typeof source.name === 'string') return source;
    if ('body' in source && 'ok' in source) return responseSource(source);
    if ('href' in source && typeof source.href === 'string') return urlSource(source.href);
  }
  throw refuse('safetensors', `takes bytes, a URL, a Response or a fileSource, got ${shown(source)}`);
}
