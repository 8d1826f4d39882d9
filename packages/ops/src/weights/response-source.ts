import { shown } from '../tensor/arguments.ts';
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

/** The used part of what `fetch` is given. */
interface FetchOptions {
  readonly headers?: Readonly<Record<string, string>>;
  readonly cache?: 'no-store';
}

/** The used part of what `fetch` gives. */
export interface Fetched extends ResponseLike {
  readonly headers: { get(name: string): string | null };
  readonly body: (NonNullable<ResponseLike['body']> & { cancel(): Promise<void> }) | null;
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
    beside: (file) => urlSource(addressBeside(file, href)),
  };
}

/** The body of a response, as it comes. */
export function responseSource(response: ResponseLike): ByteSource {
  const { url } = response;
  // One that was not fetched has no address.
  const isBeside = typeof url === 'string' && url !== '';
  return {
    name: String(url),
    open: () => Promise.resolve(openResponse(response)),
    ...(isBeside && { beside: (file: string) => urlSource(addressBeside(file, url)) }),
  };
}

/** @throws {BackendError} INVALID_ARGUMENT where nothing answers */
export async function fetchFrom(href: string, signal?: AbortSignal, init: FetchOptions = {}): Promise<Fetched> {
  try {
    return await fetch(href, signal === undefined ? init : { ...init, signal });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw refuse('byteSource', `cannot fetch ${href}`, {
      cause,
      hint: 'a string is a URL; in Node, fileSource(path) of @concord/ops/node reads a file',
    });
  }
}

/** The address of the file of that name beside another, or below its folder; beside a relative address, as the page has it. */
export function addressBeside(file: string, href: string): string {
  // As a name: `%`, `?` and `#` in it are letters, not the parts of an address.
  return new URL(file.split('/').map(encodeURIComponent).join('/'), absolute(href)).href;
}

/** A relative address as `fetch` of the page or worker takes it: from its base. */
export function absolute(href: string): string {
  const { document, location } = globalThis as {
    readonly document?: { readonly baseURI: string };
    readonly location?: UrlLike;
  };
  const base = document?.baseURI ?? location?.href;
  return URL.canParse(href, base) ? new URL(href, base).href : href;
}

/** The body of a response from its beginning to its end. */
export function openResponse(response: ResponseLike): OpenBytes {
  if (!response.ok) {
    const hint = [401, 403].includes(response.status)
      ? 'where a file needs a token, give the Response of a fetch that sends it'
      : 'open the address in a browser: is the file there?';
    throw refuse('byteSource', `${response.url} answered ${response.status}`, { hint });
  }
  if (response.body === null) throw refuse('byteSource', `${response.url} has no body`);
  const reader = readerOf(response.body, response.url);
  let at = 0;
  let rest = new Uint8Array();
  let isClosed = false;
  return {
    // What content-length tells may be the length of something compressed.
    size: undefined,
    async *pieces(from, to) {
      while (at < to) {
        if (rest.length === 0) {
          const { done, value } = await next(reader, response.url, at);
          if (done || isClosed) return;
          rest = bytesOf(value, response.url);
        }
        const skipped = Math.min(rest.length, Math.max(0, from - at));
        const piece = rest.subarray(skipped, skipped + Math.min(rest.length - skipped, to - at - skipped));
        rest = rest.subarray(skipped + piece.length);
        at += skipped + piece.length;
        if (piece.length > 0) yield piece;
      }
    },
    close: () => {
      isClosed = true;
      // Of a connection that broke, there is nothing left to end.
      return reader.cancel().catch(() => undefined);
    },
  };
}

type Body = NonNullable<ResponseLike['body']>;
type Reader = ReturnType<Body['getReader']>;

function readerOf(body: Body, url: string): Reader {
  try {
    return body.getReader();
  } catch (cause) {
    throw refuse('byteSource', `the body of ${url} cannot be read, or was read before`, {
      cause,
      hint: 'a Response can be read once: fetch it again, or give its URL',
    });
  }
}

async function next(reader: Reader, url: string, at: number): ReturnType<Reader['read']> {
  try {
    return await reader.read();
  } catch (cause) {
    throw refuse('byteSource', `${url} broke off after ${at} bytes`, { cause, hint: 'load it again' });
  }
}

function bytesOf(value: unknown, url: string): Uint8Array<ArrayBuffer> {
  if (value instanceof Uint8Array) return value as Uint8Array<ArrayBuffer>;
  throw refuse('byteSource', `the body of ${url} must give a Uint8Array at a time, got ${shown(value)}`);
}
