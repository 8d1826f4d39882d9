import { refuse } from '../tensor/errors.ts';
import type { ByteSource, OpenBytes } from './byte-source.ts';

/** The used part of a `Response` of `fetch`. */
export interface ResponseLike {
  readonly ok: boolean;
  readonly status: number;
  readonly url: string;
  readonly body: {
    getReader(): {
      read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
      cancel(): Promise<void>;
    };
  } | null;
}

/** The used part of a `URL`. */
export interface UrlLike {
  readonly href: string;
}

/** A file at an address, which is fetched as it is read. */
export function urlSource(href: string): ByteSource {
  return {
    name: href,
    open: async (signal) => openResponse(await fetchFrom(href, signal)),
    beside: (file) => urlSource(new URL(file, absolute(href)).href),
  };
}

/** The body of a response, as it comes. */
export function responseSource(response: ResponseLike): ByteSource {
  return { name: response.url, open: () => Promise.resolve(openResponse(response)) };
}

async function fetchFrom(href: string, signal: AbortSignal | undefined): Promise<ResponseLike> {
  try {
    return await fetch(href, signal === undefined ? {} : { signal });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw refuse('safetensors', `cannot fetch ${href}`, {
      cause,
      hint: 'a string is a URL; in Node, fileSource(path) of @concord/ops/node reads a file',
    });
  }
}

/** Names of files beside a relative address are those beside the page. */
function absolute(href: string): URL {
  const { location } = globalThis as { readonly location?: UrlLike };
  return new URL(href, location?.href);
}

function openResponse(response: ResponseLike): OpenBytes {
  if (!response.ok) throw refuse('safetensors', `${response.url} answered ${response.status}`);
  if (response.body === null) throw refuse('safetensors', `${response.url} has no body`);
  const reader = response.body.getReader();
  let at = 0;
  let rest = new Uint8Array();
  return {
    // What content-length tells may be the length of something compressed.
    size: undefined,
    async *pieces(from, to) {
      while (at < to) {
        if (rest.length === 0) {
          const { done, value } = await reader.read();
          if (done) return;
          rest = value as typeof rest;
        }
        const skipped = Math.min(rest.length, Math.max(0, from - at));
        const piece = rest.subarray(skipped, skipped + Math.min(rest.length - skipped, to - at - skipped));
        rest = rest.subarray(skipped + piece.length);
        at += skipped + piece.length;
        if (piece.length > 0) yield piece;
      }
    },
    close: () => reader.cancel(),
  };
}
