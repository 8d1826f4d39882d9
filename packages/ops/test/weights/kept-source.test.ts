import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import { expectRejection } from '../../../backend-core/test/expect-error.ts';
import {
  byteSource,
  loadSafetensors,
  memory,
  pageCache,
  readBytes,
  tensor,
  type WeightCache,
} from '../../src/index.ts';
import { folderCache } from '../../src/node.ts';
import { KEPT_BYTES } from '../../src/weights/kept-source.ts';
import { writeSafetensors } from '../../src/weights/write-safetensors.ts';

/** Three pieces, the last one short. */
const FILE = Uint8Array.from({ length: 2 * KEPT_BYTES + 1000 }, (_, i) => i ^ (i >> 8) ^ (i >> 16));

/** A cache in memory. */
class MapCache implements WeightCache {
  readonly kept = new Map<string, Uint8Array>();
  readonly maxBytes: number;
  /** Bytes that there is room for. */
  room = Infinity;
  error: Error = new DOMException('no room', 'QuotaExceededError');

  constructor(maxBytes = Infinity) {
    this.maxBytes = maxBytes;
  }

  get = (name: string): Promise<Uint8Array | undefined> => Promise.resolve(this.kept.get(name)?.slice());
  put = (name: string, bytes: Uint8Array): Promise<void> => {
    const others = [...this.kept].filter(([other]) => other !== name).reduce((sum, [, { length }]) => sum + length, 0);
    if (others + bytes.length > this.room) return Promise.reject(this.error);
    this.kept.set(name, bytes.slice());
    return Promise.resolve();
  };
  delete = (name: string): Promise<void> => Promise.resolve(void this.kept.delete(name));
  names = (): Promise<readonly string[]> => Promise.resolve([...this.kept.keys()]);

  /** How many pieces are kept, of all files. */
  get pieces(): number {
    return [...this.kept.keys()].filter((name) => !name.endsWith('.json')).length;
  }
}

let server: Server;
let url: string;
let cache: MapCache;
/** The ranges asked for, and the bytes sent. */
let asked: (string | undefined)[];
let sent: number;
let answer: (request: IncomingMessage, response: ServerResponse) => void;
const files = new Map<string, { bytes: Uint8Array; etag: string | undefined }>();

/** @param breakAfter - bytes of this answer after which its connection breaks */
function send(
  { headers, url: path = '' }: IncomingMessage,
  response: ServerResponse,
  { breakAfter = Infinity, hasRanges = true, start: lie = 0 } = {},
): void {
  const { bytes, etag } = files.get(path) as NonNullable<ReturnType<typeof files.get>>;
  const own = hasRanges ? Number(/^bytes=(\d+)-$/.exec(headers.range ?? '')?.[1] ?? NaN) : NaN;
  if (own >= bytes.length) return void response.writeHead(416).end();
  const part = bytes.subarray(own || 0);
  const range = `bytes ${own + lie}-${bytes.length - 1}/${bytes.length}`;
  response.writeHead(Number.isNaN(own) ? 200 : 206, {
    'content-length': part.length,
    ...(Number.isNaN(own) ? {} : { 'content-range': range }),
    ...(etag === undefined ? {} : { etag }),
  });
  sent += Math.min(breakAfter, part.length);
  if (breakAfter < part.length)
    response.write(part.subarray(0, breakAfter), () => setTimeout(() => response.destroy(), 30));
  else response.end(part);
}

beforeAll(async () => {
  server = createServer((request, response) => {
    asked.push(request.headers.range);
    answer(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/x`;
});
afterAll(() => {
  server.closeAllConnections();
  server.close();
});
beforeEach(() => {
  [cache, asked, sent, answer] = [new MapCache(), [], 0, send];
  files.clear();
  files.set('/x', { bytes: FILE, etag: '"1"' });
});

async function read(from = 0, to = Infinity, of: WeightCache = cache, href = url): Promise<Uint8Array> {
  const open = await byteSource(href, of).open();
  try {
    return await readBytes(open, from, to);
  } finally {
    await open.close();
  }
}

const same = (got: Uint8Array, want: Uint8Array): void => expect(Buffer.compare(got, want)).toBe(0);

test('a file is fetched once, in any order and without a network afterwards', async () => {
  same(await read(), FILE);
  expect([asked, sent, cache.pieces]).toEqual([['bytes=0-'], FILE.length, 3]);
  same(await read(KEPT_BYTES - 5, KEPT_BYTES + 5), FILE.subarray(KEPT_BYTES - 5, KEPT_BYTES + 5));
  // The last byte, by which the server tells its version.
  expect([asked.length, sent]).toEqual([2, FILE.length + 1]);
  vi.stubGlobal('fetch', () => Promise.reject(new TypeError('no network')));
  try {
    const open = await byteSource(new URL(url), cache).open();
    for (const from of [2 * KEPT_BYTES, 0]) same(await readBytes(open, from, from + 9), FILE.subarray(from, from + 9));
    await open.close();
    await expectRejection(read(0, 1, new MapCache()), 'INVALID_ARGUMENT', /cannot fetch/);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('only what is read is fetched, in any order, what lies elsewhere by its range', async () => {
  const open = await byteSource(url, cache).open();
  for (const index of [2, 0]) {
    const [from, to] = [index * KEPT_BYTES, index * KEPT_BYTES + 10];
    same(await readBytes(open, from, to), FILE.subarray(from, to));
  }
  await open.close();
  expect([asked, cache.pieces]).toEqual([['bytes=0-', `bytes=${2 * KEPT_BYTES}-`, 'bytes=0-'], 2]);
  same(await read(), FILE);
  expect(cache.pieces).toBe(3);
});

test('what broke off goes on where it did, in one load and in the next', async () => {
  const breaks = [100_000, 0, 100_000, 100_000, 100_000, 100_000, KEPT_BYTES, 0];
  answer = (request, response) => send(request, response, { breakAfter: breaks.shift() ?? Infinity });
  same(await read(), FILE);
  // What is on its way when a connection breaks may be lost.
  const [, resumed] = asked.map((range) => Number(range?.slice('bytes='.length, -1)));
  expect(resumed).toBeGreaterThan(0);
  expect(sent).toBeLessThan(FILE.length + KEPT_BYTES / 2);

  [cache, asked] = [new MapCache(), []];
  answer = (request, response) => send(request, response, { breakAfter: asked.length === 1 ? 1.5 * KEPT_BYTES : 0 });
  await expectRejection(read(), 'INVALID_ARGUMENT', /broke off after \d+ bytes/);
  expect(cache.pieces).toBe(1);
  [answer, sent] = [send, 0];
  same(await read(), FILE);
  expect(sent).toBe(FILE.length - KEPT_BYTES + 1);
});

test('a file that has changed is fetched anew; one that changes while it is read is refused, and not mixed', async () => {
  same(await read(), FILE);
  const other = FILE.map((byte) => byte ^ 1);
  files.set('/x', { bytes: other, etag: '"2"' });
  same(await read(), other);
  expect(cache.pieces).toBe(3);
  files.set('/x', { bytes: FILE.subarray(0, 500), etag: '"3"' });
  same(await read(), FILE.subarray(0, 500));

  files.set('/x', { bytes: FILE, etag: '"1"' });
  cache = new MapCache();
  answer = (request, response) => {
    send(request, response, { breakAfter: 1000 });
    files.set('/x', { bytes: other, etag: '"2"' });
  };
  await expectRejection(read(), 'INVALID_ARGUMENT', /has changed while it was read/);
  answer = send;
  same(await read(), other);
});

test('a piece that is damaged or gone is fetched again, and a damaged record is none', async () => {
  same(await read(), FILE);
  const [first, second] = [...cache.kept.keys()].filter((name) => !name.endsWith('.json'));
  cache.kept.get(first as string)?.fill(7, 1234, 1240);
  cache.kept.delete(second as string);
  asked = [];
  same(await read(), FILE);
  expect(asked).toEqual([`bytes=${FILE.length - 1}-`, 'bytes=0-']);
  for (const name of cache.kept.keys()) if (name.endsWith('.json')) cache.kept.set(name, Uint8Array.of(123));
  same(await read(), FILE);
});

test('a server without ranges serves all of it: pieces are kept, and what is there is passed over', async () => {
  answer = (request, response) =>
    send(request, response, { hasRanges: false, breakAfter: asked.length === 1 ? 1.5 * KEPT_BYTES : Infinity });
  same(await read(), FILE);
  same(await read(), FILE);
  expect(cache.pieces).toBe(3);
  cache.kept.delete([...cache.kept.keys()].find((name) => name.endsWith('.1')) as string);
  same(await read(), FILE);
});

test('a server that answers another range than asked for is refused', async () => {
  answer = (request, response) =>
    send(request, response, { breakAfter: asked.length === 1 ? 1000 : Infinity, start: asked.length === 1 ? 0 : 3 });
  await expectRejection(read(), 'INVALID_ARGUMENT', /broke off after \d+ bytes/);
  await expect(read(0, 1, new MapCache())).rejects.toThrow(/answered bytes 3-\d+\/\d+ to bytes=0-/);
});

test.each([404, 503])('an answer of %i is told, also where a file is kept', async (status) => {
  same(await read(), FILE);
  answer = (_, response) => void response.writeHead(status).end();
  await expectRejection(read(), 'INVALID_ARGUMENT', `byteSource: ${url} answered ${status}`);
});

test('nothing is kept of a file that could change unseen', async () => {
  const date = 'Fri, 27 Nov 2026 12:00:00 GMT';
  for (const [etag, modified, pieces] of [
    [undefined, undefined, 0],
    ['', undefined, 0],
    // In the second of the answer, and in the one before.
    [undefined, date, 0],
    [undefined, 'Fri, 27 Nov 2026 11:59:59 GMT', 3],
  ] as const) {
    files.set('/x', { bytes: FILE, etag });
    answer = (request, response) => {
      response.setHeader('date', date);
      if (modified !== undefined) response.setHeader('last-modified', modified);
      send(request, response);
    };
    same(await read(), FILE);
    expect(cache.pieces).toBe(pieces);
  }
});

test('a relative address is of its page: pages of one origin have their own', async () => {
  files.set('/a/x', { bytes: FILE, etag: '"1"' });
  files.set('/b/x', { bytes: FILE.map((byte) => byte ^ 1), etag: '"1"' });
  const { fetch: own } = globalThis;
  vi.stubGlobal('fetch', (href: string, init: RequestInit) => own(new URL(href, location.href), init));
  try {
    for (const path of ['/a/x', '/b/x', '/a/x']) {
      vi.stubGlobal('location', { href: new URL(path, url).href });
      same(await read(0, Infinity, cache, 'x'), files.get(path)?.bytes as Uint8Array);
    }
    expect(cache.pieces).toBe(6);
  } finally {
    vi.unstubAllGlobals();
  }
});

test('what comes compressed is read, and not kept by the length of that', async () => {
  const packed = gzipSync(FILE);
  answer = (_, response) => {
    const range = `bytes 0-${packed.length - 1}/${packed.length}`;
    const headers = { 'content-encoding': 'gzip', 'content-range': range, etag: '"1"' };
    response.writeHead(206, headers).end(packed);
  };
  same(await read(), FILE);
  expect(cache.kept.size).toBe(0);
});

test('what was not used for longest gives way to maxBytes, and to what a browser allows', async () => {
  for (const path of ['/x', '/y', '/z']) files.set(path, { bytes: FILE, etag: '"1"' });
  const [x, y, z] = ['x', 'y', 'z'].map((name) => new URL(name, url).href);
  const now = vi.spyOn(Date, 'now');
  const open = (time: number, href = '', of = cache): Promise<Uint8Array> => {
    now.mockReturnValue(time);
    return read(0, Infinity, of, href);
  };
  const isKept = async (href = '', of = cache): Promise<boolean> => {
    sent = 0;
    await open(9, href, of);
    return sent < FILE.length;
  };
  cache = new MapCache(2 * FILE.length);
  for (const [i, href] of [x, y, x, z].entries()) same(await open(i, href), FILE);
  expect([await isKept(x), await isKept(z), cache.pieces]).toEqual([true, true, 6]);

  cache = new MapCache();
  cache.room = 2 * FILE.length + 1000;
  for (const [i, href] of [x, y, x, z].entries()) same(await open(i, href), FILE);
  expect([await isKept(x), await isKept(z), cache.pieces]).toEqual([true, true, 6]);

  // A file for which there is no room, and a cache that fails, are read all the same.
  for (const tight of [
    new MapCache(FILE.length - 1),
    Object.assign(new MapCache(), { room: KEPT_BYTES + 1000 }),
    Object.assign(new MapCache(), { room: 0, error: new Error('broken') }),
  ]) {
    same(await open(0, x, tight), FILE);
    expect(tight.pieces).toBeLessThan(2);
  }
  now.mockRestore();
});

test('a file that was dropped on a page is read by parts', async () => {
  const open = await byteSource(new File([FILE], 'x')).open();
  same(await readBytes(open, 5, Infinity), FILE.subarray(5));
  expect([byteSource(new File([FILE], 'x')).name, byteSource(new Blob([FILE])).name]).toEqual([
    'x',
    `a Blob of ${FILE.length} bytes`,
  ]);
});

test('an abort ends a wait for the server, with its reason', async () => {
  const backend = await CpuBackend.create();
  const stopped = new AbortController();
  answer = (request, response) => {
    send(request, response, { breakAfter: 100 });
    stopped.abort(new Error('enough'));
  };
  await expect(loadSafetensors(backend, url, { cache, signal: stopped.signal })).rejects.toThrow('enough');
  await backend.dispose();
});

test('weights come from the cache, of one file and of several, from a folder too', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'concord-kept-'));
  const backend = await CpuBackend.create();
  const before = memory();
  using a = tensor(
    backend,
    Float32Array.from({ length: 2_000_000 }, (_, i) => i),
  );
  using b = tensor(backend, [3, 4]);
  files.set('/a.safetensors', { bytes: await writeSafetensors({ a, b }), etag: '"a"' });
  const map = new TextEncoder().encode(JSON.stringify({ weight_map: { a: 'a.safetensors', b: 'a.safetensors' } }));
  files.set('/i.json', { bytes: map, etag: '"i"' });
  const kept = folderCache(join(folder, 'kept'));
  for (const round of [0, 1]) {
    sent = 0;
    const read = await loadSafetensors(backend, new URL('/i.json', url), { cache: kept });
    expect((await read['a']?.toArray())?.at(-1)).toBe(1_999_999);
    expect([...((await read['b']?.toArray()) ?? [])]).toEqual([3, 4]);
    for (const each of Object.values(read)) each.dispose();
    expect(sent < 10).toBe(round === 1);
  }
  const names = readdirSync(join(folder, 'kept'));
  expect(names).toHaveLength(5);
  for (const name of names) writeFileSync(join(folder, 'kept', name), 'damaged');
  const again = await loadSafetensors(backend, new URL('/i.json', url), { cache: kept, names: ['b'] });
  for (const each of Object.values(again)) each.dispose();
  a.dispose();
  b.dispose();
  expect(memory()).toEqual(before);
  await backend.dispose();
  rmSync(folder, { recursive: true });
});

test('the cache of a page is that of the browser, and where there is none it says so', async () => {
  expect(() => folderCache('x', { maxBytes: NaN })).toThrow(/folderCache: maxBytes must be a number of bytes, got NaN/);
  expect(folderCache('x', { maxBytes: 0 }).maxBytes).toBe(0);
  expect(() => pageCache()).toThrow(/pageCache: there is no Cache API here/);
  const kept = new Map<string, Response>();
  const own = {
    match: (key: string) => Promise.resolve(kept.get(key)?.clone()),
    put: (key: string, response: Response) => Promise.resolve(void kept.set(key, response)),
    delete: (key: string) => Promise.resolve(kept.delete(key)),
    keys: () => Promise.resolve([...kept.keys()].map((key) => new Request(key))),
  };
  const open = vi.fn(() => Promise.resolve(own));
  vi.stubGlobal('caches', { open });
  try {
    const page = pageCache('mine', { maxBytes: FILE.length + 100 });
    same(await read(0, Infinity, page), FILE);
    sent = 0;
    same(await read(0, Infinity, page), FILE);
    expect([sent, open.mock.calls]).toEqual([1, [['mine']]]);
    files.set('/y', { bytes: FILE, etag: '"1"' });
    same(await read(0, Infinity, page, new URL('y', url).href), FILE);
    expect(kept.size).toBe(4);
  } finally {
    vi.unstubAllGlobals();
  }
});
