import { refuse } from '../tensor/errors.ts';
import type { ByteSource, OpenBytes } from './byte-source.ts';
import { absolute, addressBeside, type Fetched, fetchFrom, openResponse } from './response-source.ts';
import type { WeightCache } from './weight-cache.ts';

/** Bytes that are kept under a name. */
export const KEPT_BYTES: number = 4 * 2 ** 20;

/** Bytes of the SHA-256 after each piece. */
const DIGEST_BYTES = 32;

/** Connections that may fail or bring nothing one after the other, and milliseconds before the second one; then twice that. */
const ATTEMPTS = 5;
const FIRST_WAIT_MS = 100;

/** One state of a file: what the server calls it, and its bytes. */
interface Version {
  readonly tag: string;
  readonly size: number;
}

/** The record of a kept file. */
interface Kept extends Version {
  readonly href: string;
  /** The time at which it was last opened, in milliseconds. */
  readonly used: number;
}

/** Part of a file from a place on, while it comes. */
interface Body {
  readonly response: Fetched;
  readonly from: number;
  /** The version of the file; undefined if the server tells no size, or nothing by which a change would show. */
  readonly version: Version | undefined;
}

/**
 * A file at an address, whose pieces are kept as they come: it is fetched once, and goes on where it broke off. A file that the server
 * has changed is fetched anew. Without a network what is kept is used. A server that tells no size, or neither ETag nor
 * Last-Modified, could change it unseen: then nothing is kept.
 */
export function keptSource(href: string, cache: WeightCache): ByteSource {
  return {
    name: href,
    open: (signal) => openKept(href, cache, signal),
    beside: (file) => keptSource(addressBeside(file, href), cache),
  };
}

/** {@link Body} that is read, up to a place in the file. */
interface Reading {
  readonly bytes: OpenBytes;
  readonly from: number;
  at: number;
}

async function openKept(href: string, cache: WeightCache, signal: AbortSignal | undefined): Promise<OpenBytes> {
  const id = await digestText(absolute(href));
  const kept = await readKept(cache, id);
  let [version, first]: [Version | undefined, Body | undefined] = [kept, undefined];
  try {
    // Of what is kept the last byte, by which the server tells its version; undefined: the file has become shorter.
    first = await request(href, kept === undefined ? 0 : kept.size - 1, signal);
    const isSame = kept !== undefined && first?.version?.tag === kept.tag && first.version.size === kept.size;
    if (kept !== undefined && !isSame) {
      await drop(cache, id);
      if (first?.from !== 0) {
        await first?.response.body?.cancel();
        first = await request(href, 0, signal);
      }
    }
    version = first?.version;
  } catch (error) {
    if (signal?.aborted === true || kept === undefined || !isUnreachable(error)) throw error;
  }
  if (version === undefined && first === undefined) throw refuse('byteSource', `${href} answered 416`);
  if (version === undefined) return openResponse((first as Body).response);
  const stored = await Stored.open(cache, id, { ...version, href, used: Date.now() });
  return new KeptBytes(href, stored, version, first, signal);
}

/** The pieces of one version of a file that are kept. */
class Stored {
  readonly #cache: WeightCache;
  readonly #id: string;
  readonly #prefix: string;
  #isFull = false;

  private constructor(cache: WeightCache, id: string, tag: string) {
    this.#cache = cache;
    this.#id = id;
    this.#prefix = `${id}.${tag.slice(0, 16)}.`;
  }

  static async open(cache: WeightCache, id: string, kept: Kept): Promise<Stored> {
    const own = new Stored(cache, id, await digestText(kept.tag));
    let total = kept.size;
    own.#isFull = total > cache.maxBytes;
    const isBounded = cache.maxBytes < Infinity && !own.#isFull;
    for (const [other, { size }] of isBounded ? await newestFirst(cache, id) : []) {
      total += size;
      if (total > cache.maxBytes) await drop(cache, other);
    }
    await own.#put(`${id}.json`, new TextEncoder().encode(JSON.stringify(kept)));
    return own;
  }

  /** Returns a piece; undefined if it is absent, or is not what was kept. */
  async get(index: number, length: number): Promise<Uint8Array | undefined> {
    const bytes = await this.#cache.get(this.#prefix + index).catch(() => undefined);
    if (bytes?.length !== length + DIGEST_BYTES) return undefined;
    const digest = await digestOf(bytes.subarray(0, length));
    return digest.every((byte, at) => byte === bytes[length + at]) ? bytes.subarray(0, length) : undefined;
  }

  /** @param bytes - of the piece, and room for its digest */
  async put(index: number, bytes: Uint8Array): Promise<void> {
    if (this.#isFull) return;
    const length = bytes.length - DIGEST_BYTES;
    bytes.set(await digestOf(bytes.subarray(0, length)), length);
    await this.#put(this.#prefix + index, bytes);
  }

  drop(): Promise<void> {
    return drop(this.#cache, this.#id);
  }

  /** Keeps a piece. If there is no room even without other files, the rest of this one is not kept. */
  async #put(name: string, bytes: Uint8Array): Promise<void> {
    while (!this.#isFull) {
      try {
        return await this.#cache.put(name, bytes);
      } catch (error) {
        const oldest = isFull(error) ? (await newestFirst(this.#cache, this.#id)).at(-1) : undefined;
        if (oldest === undefined) this.#isFull = true;
        else await drop(this.#cache, oldest[0]);
      }
    }
  }
}

/** Bytes of a file at any place, each from where it is kept or else from the server. */
class KeptBytes implements OpenBytes {
  readonly size: number;
  readonly #href: string;
  readonly #stored: Stored;
  readonly #version: Version;
  readonly #signal: AbortSignal | undefined;
  #body: Reading | undefined;
  /** The piece that was read last: small tensors share one. */
  #last: { readonly index: number; readonly bytes: Uint8Array } | undefined;
  #isClosed = false;

  constructor(
    href: string,
    stored: Stored,
    version: Version,
    first: Body | undefined,
    signal: AbortSignal | undefined,
  ) {
    [this.size, this.#href, this.#stored, this.#version, this.#signal] = [version.size, href, stored, version, signal];
    if (first !== undefined) this.#body = bodyOf(first);
  }

  async *pieces(from: number, to: number): AsyncGenerator<Uint8Array, void, undefined> {
    const end = Math.min(to, this.size);
    for (let at = from; at < end && !this.#isClosed;) {
      const index = Math.floor(at / KEPT_BYTES);
      const bytes = await this.#piece(index);
      const part = bytes.subarray(at - index * KEPT_BYTES, end - index * KEPT_BYTES);
      yield part;
      at += part.length;
    }
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#hangUp();
  }

  async #piece(index: number): Promise<Uint8Array> {
    if (this.#last?.index === index) return this.#last.bytes;
    const from = index * KEPT_BYTES;
    const length = Math.min(KEPT_BYTES, this.size - from);
    let bytes = await this.#stored.get(index, length);
    if (bytes === undefined) {
      const fetched = new Uint8Array(length + DIGEST_BYTES);
      await this.#fetch(from, fetched.subarray(0, length));
      await this.#stored.put(index, fetched);
      bytes = fetched.subarray(0, length);
    }
    this.#last = { index, bytes };
    return bytes;
  }

  async #fetch(from: number, into: Uint8Array): Promise<void> {
    let [held, failures, reason]: [number, number, unknown] = [0, 0, undefined];
    while (held < into.length) {
      const before = held;
      try {
        const body = await this.#bodyAt(from + held);
        for await (const part of body.bytes.pieces(from + held - body.from, from + into.length - body.from)) {
          into.set(part, held);
          held += part.length;
          body.at = from + held;
        }
      } catch (error) {
        reason = error;
      }
      this.#signal?.throwIfAborted();
      if (reason instanceof Changed) throw reason.told;
      if (held === into.length) return;
      await this.#hangUp();
      failures = held > before ? 1 : failures + 1;
      if (failures >= ATTEMPTS || this.#isClosed) {
        const hint = 'load it again: it goes on from there';
        throw refuse('byteSource', `${this.#href} broke off after ${from + held} bytes`, { cause: reason, hint });
      }
      await new Promise((resolve) => setTimeout(resolve, FIRST_WAIT_MS * 2 ** (failures - 1)));
    }
  }

  async #bodyAt(place: number): Promise<Reading> {
    // What comes in between is passed over: by a server without ranges, or because it is kept.
    if (this.#body !== undefined && this.#body.at <= place && place - this.#body.at < KEPT_BYTES) return this.#body;
    await this.#hangUp();
    const next = await request(this.#href, place, this.#signal);
    const { tag, size } = next?.version ?? {};
    if (next === undefined || tag !== this.#version.tag || size !== this.#version.size) {
      await next?.response.body?.cancel();
      await this.#stored.drop();
      throw new Changed(this.#href);
    }
    return (this.#body = bodyOf(next));
  }

  async #hangUp(): Promise<void> {
    const body = this.#body;
    this.#body = undefined;
    await body?.bytes.close();
  }
}

/** The file is another than that whose beginning was read. */
class Changed extends Error {
  readonly told: Error;

  constructor(href: string) {
    super();
    this.told = refuse('byteSource', `${href} has changed while it was read`, { hint: 'load it again' });
  }
}

const bodyOf = ({ response, from }: Body): Reading => ({ bytes: openResponse(response), from, at: from });

/** Asks for a file from a place on; undefined where it ends before. */
async function request(href: string, from: number, signal: AbortSignal | undefined): Promise<Body | undefined> {
  // The browser's own cache would keep it a second time.
  const headers = { range: `bytes=${from}-` };
  const response = await fetchFrom(href, signal, { headers, cache: 'no-store' });
  const { status } = response;
  if (status === 416) return undefined;
  if (!response.ok) throw refuse('byteSource', `${href} answered ${status}`);
  const own = (name: string): string | undefined => response.headers.get(name) ?? undefined;
  const modified = own('last-modified') ?? '';
  // Within the second that it counts in, a file may change again: RFC 9110, 8.8.2.2.
  const isSettled = !(Date.parse(own('date') ?? '') - Date.parse(modified) < 1000);
  const tag = own('etag') || (isSettled ? modified : '');
  const [, start, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(own('content-range') ?? '') ?? [];
  const isPart = status === 206;
  if (isPart && Number(start ?? 0) !== from) {
    await response.body?.cancel();
    throw refuse('byteSource', `${href} answered ${own('content-range') ?? 'a range'} to bytes=${from}-`);
  }
  // A length of something compressed is not that of the file.
  const isPlain = own('content-encoding') === undefined;
  const size = Number((isPart ? total : own('content-length')) ?? NaN);
  const version = tag === '' || !isPlain || !(size > 0) ? undefined : { tag, size };
  return { response, from: isPart ? from : 0, version };
}

async function readKept(cache: WeightCache, id: string): Promise<Kept | undefined> {
  const bytes = await cache.get(`${id}.json`).catch(() => undefined);
  try {
    const kept = JSON.parse(new TextDecoder().decode(bytes)) as Kept;
    return typeof kept.tag === 'string' && kept.size > 0 ? kept : undefined;
  } catch {
    return undefined;
  }
}

async function newestFirst(cache: WeightCache, but: string): Promise<readonly (readonly [id: string, kept: Kept])[]> {
  const ids = new Set((await cache.names()).map((name) => name.slice(0, name.indexOf('.'))));
  const found = await Promise.all([...ids].map(async (id) => [id, await readKept(cache, id)] as const));
  // What has lost its record has no use.
  return found
    .filter(([id]) => id !== but)
    .map(([id, kept]) => [id, kept ?? { href: '', tag: '', size: 0, used: 0 }] as const)
    .sort(([, a], [, b]) => b.used - a.used);
}

async function drop(cache: WeightCache, id: string): Promise<void> {
  for (const name of await cache.names()) if (name.startsWith(`${id}.`)) await cache.delete(name);
}

async function digestOf(bytes: Uint8Array): Promise<Uint8Array> {
  return new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
}

async function digestText(text: string): Promise<string> {
  const digest = await digestOf(new TextEncoder().encode(text));
  return [...digest].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

const isFull = (error: unknown): boolean =>
  ['QuotaExceededError', 'ENOSPC', 'EDQUOT'].some((name) => name === Object(error).name || name === Object(error).code);

/** Returns whether no server answered. */
const isUnreachable = (error: unknown): boolean => Object(error).cause instanceof TypeError;
