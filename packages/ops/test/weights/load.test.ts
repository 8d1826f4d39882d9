import { CpuBackend } from '@concord/backend-cpu';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, expect, test, vi } from 'vitest';
import * as ops from '../../src/index.ts';
import { fileSource, saveSafetensors } from '../../src/node.ts';
import { entry, fileOf } from './files.ts';

const backend = new CpuBackend();
const folder = mkdtempSync(join(tmpdir(), 'concord-weights-'));
const at = (file: string): string => join(folder, file);
/** More than goes to the device at once, and no whole number of that. */
const LARGE = 2_500_001;
const large = Float32Array.from({ length: LARGE }, (_, i) => i);

/** Whose largest allocation is less than `a` of the files. */
class SmallBackend extends CpuBackend {
  protected override async doInit() {
    const opened = await super.doInit();
    return { ...opened, limits: { ...opened.limits, maxAllocationBytes: 1_000_000 } };
  }
}

let before: ReturnType<typeof ops.memory>;

beforeAll(async () => {
  await backend.init();
  using a = ops.tensor(backend, large);
  using b = ops.tensor(backend, [
    [1, 2],
    [3, 4],
  ]);
  using c = ops.tensor(backend, Int8Array.of(5, 6, 7));
  await saveSafetensors(at('one-of-2.safetensors'), { a, c }, { metadata: { format: 'pt' } });
  await saveSafetensors(at('two-of-2.safetensors'), { b });
  const map = { a: 'one-of-2.safetensors', b: 'two-of-2.safetensors', c: 'one-of-2.safetensors' };
  writeFileSync(at('model.safetensors.index.json'), JSON.stringify({ metadata: { total_size: 7 }, weight_map: map }));
});
beforeEach(() => {
  before = ops.memory();
});
afterAll(async () => {
  rmSync(folder, { recursive: true });
  await backend.dispose();
});

async function load(
  source: ops.SafetensorsSource,
  options?: ops.LoadOptions,
): Promise<Record<string, readonly number[]>> {
  const tensors = await ops.loadSafetensors(backend, source, options);
  const values: Record<string, readonly number[]> = {};
  for (const [name, each] of Object.entries(tensors)) {
    values[name] = [...(await each.toArray())];
    each.dispose();
  }
  expectNothingLeft();
  return values;
}

function expectNothingLeft(): void {
  expect(ops.memory()).toEqual(before);
  expect(backend.memory().liveAllocations).toBe(0);
}

/** @param error - its fields; a text may be a pattern, which toMatchObject by itself would not look at */
async function expectRefused(source: ops.SafetensorsSource, options: ops.LoadOptions, error: object): Promise<void> {
  const fields = Object.entries(error).map(([name, value]: [string, unknown]) => {
    return [name, value instanceof RegExp ? (expect.stringMatching(value) as unknown) : value];
  });
  await expect(ops.loadSafetensors(backend, source, options)).rejects.toMatchObject(Object.fromEntries(fields));
  expectNothingLeft();
}

/** A response whose body comes in pieces of that many bytes. */
function responseOf(file: Uint8Array, piece: number): Response {
  let from = 0;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (from >= file.length) controller.close();
      else controller.enqueue(file.slice(from, (from += piece)));
    },
  });
  return new Response(body);
}

test('a file is read in pieces, also into another type', async () => {
  const progress = vi.fn<(loaded: number, total: number, file: string) => void>();
  const { a, c } = await load(fileSource(at('one-of-2.safetensors')), { onProgress: progress });
  expect(a?.findIndex((value, i) => value !== i)).toBe(-1);
  expect(a?.length).toBe(LARGE);
  expect(c).toEqual([5, 6, 7]);
  const total = 4 * LARGE + 3;
  expect(progress.mock.calls.map(([loaded, all]) => [loaded, all])).toEqual([
    [2 ** 22, total],
    [2 ** 23, total],
    [4 * LARGE, total],
    [total, total],
  ]);
  const halves = await load(fileSource(at('one-of-2.safetensors')), { names: ['a'], dtype: 'bf16' });
  const bits = new Uint32Array(large.buffer);
  const nearest = Float32Array.from(large);
  new Uint32Array(nearest.buffer).set(bits.map((word) => ((word + 0x7fff + ((word >>> 16) & 1)) >>> 16) << 16));
  expect(halves['a']?.findIndex((value, i) => value !== nearest[i])).toBe(-1);
});

test('bytes in memory: a buffer, and a part of one', async () => {
  const file = readFileSync(at('two-of-2.safetensors'));
  expect(await load(file)).toEqual({ b: [1, 2, 3, 4] });
  expect(await load(Uint8Array.from(file).buffer)).toEqual({ b: [1, 2, 3, 4] });
});

test.each([1, 7, 64, 1000])('a response whose body comes in pieces of %i bytes', async (piece) => {
  using a = ops.tensor(backend, [1, 2, 3], [3], { dtype: 'f16' });
  using b = ops.tensor(backend, [4, 5]);
  const file = await ops.writeSafetensors({ a, b });
  a.dispose();
  b.dispose();
  expect(await load(responseOf(file, piece))).toEqual({ a: [1, 2, 3], b: [4, 5] });
  expect(await load(responseOf(file, piece), { names: ['a'] })).toEqual({ a: [1, 2, 3] });
  expect((await ops.readSafetensors(responseOf(file, piece))).tensors.map(({ name }) => name)).toEqual(['b', 'a']);
  await expectRefused(responseOf(file.slice(0, -1), piece), {}, { message: /ends in a, 5 of 6 bytes/ });
  await expectRefused(responseOf(file.slice(0, 20), piece), {}, { message: /ends in its header, 12 of \d+ bytes/ });
});

test('a URL is fetched, and files beside it', async () => {
  const fetched = vi.fn((href: string) =>
    Promise.resolve(new Response(readFileSync(at(href.replace(/\?.*|.*\//g, ''))))),
  );
  vi.stubGlobal('fetch', fetched);
  try {
    const index = 'https://example.org/m/model.safetensors.index.json?download=true';
    expect(await load(new URL(index), { names: ['b', 'c'] })).toEqual({ b: [1, 2, 3, 4], c: [5, 6, 7] });
    expect(fetched.mock.calls.map(([href]) => href)).toEqual([
      index,
      'https://example.org/m/two-of-2.safetensors',
      'https://example.org/m/one-of-2.safetensors',
    ]);
    fetched.mockResolvedValue(new Response('no', { status: 404 }));
    await expectRefused('model.safetensors', {}, { code: 'INVALID_ARGUMENT', message: /answered 404/ });
    fetched.mockResolvedValue(new Response('no', { status: 401 }));
    await expectRefused('model.safetensors', {}, { code: 'INVALID_ARGUMENT', hint: /token/ });
    const page = '<!DOCTYPE html><html><body>Not found</body></html>';
    fetched.mockImplementation(() => Promise.resolve(new Response(page)));
    await expectRefused('model.safetensors', {}, { message: /an HTML page/, hint: /\/resolve\// });
    await expectRefused('model.safetensors.index.json', {}, { message: /an HTML page/, hint: /\/resolve\// });
    const pointer = new TextEncoder().encode('version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 9\n');
    await expectRefused(pointer, {}, { message: /Git LFS pointer/, hint: /git lfs pull/ });
    fetched.mockRejectedValue(new TypeError('no network'));
    await expectRefused('model.safetensors', {}, { code: 'INVALID_ARGUMENT', hint: /fileSource/ });
  } finally {
    vi.unstubAllGlobals();
  }
});

test('a model in several files, by its index', async () => {
  const index = fileSource(at('model.safetensors.index.json'));
  const all = await load(index);
  expect(Object.keys(all).sort()).toEqual(['a', 'b', 'c']);
  expect(all['b']).toEqual([1, 2, 3, 4]);
  expect(await load(index, { names: ['c'] })).toEqual({ c: [5, 6, 7] });
  expect(await load(index, { names: (name) => name > 'b' })).toEqual({ c: [5, 6, 7] });
  await expectRefused(index, { names: ['d'] }, { message: /index.json has no tensor d/ });
});

test.each([
  ['no JSON', '{', /is not JSON/],
  ['no map', '{}', /has no weight_map/],
  ['null', 'null', /has no weight_map/],
  ['a file elsewhere', '{"weight_map":{"a":"../one-of-2.safetensors"}}', /a is in "..\/one/],
  ['an absolute path', '{"weight_map":{"a":"/etc/passwd"}}', /a is in "\/etc\/passwd"/],
  ['a number', '{"weight_map":{"a":1}}', /a is in 1/],
  ['a name twice', '{"weight_map":{"a":"b.safetensors","a":"c.safetensors"}}', /the key a twice/],
  ['a file that is missing', '{"weight_map":{"a":"no.safetensors"}}', /cannot open .*no.safetensors/],
  ['a tensor in another file', '{"weight_map":{"a":"two-of-2.safetensors"}}', /has no tensor a; it has b/],
])('an index with %s is refused', async (_, text, message) => {
  writeFileSync(at('bad.index.json'), text);
  await expectRefused(fileSource(at('bad.index.json')), {}, { code: 'INVALID_ARGUMENT', message });
});

test('what the device cannot hold is refused before anything is loaded', async () => {
  const small = await SmallBackend.create();
  const alloc = vi.spyOn(small, 'alloc');
  await expect(ops.loadSafetensors(small, fileSource(at('one-of-2.safetensors')))).rejects.toMatchObject({
    code: 'OUT_OF_MEMORY',
    message: expect.stringContaining('a, f32[2500001], needs 10000004 bytes, an allocation has at most 1000000'),
    requestedBytes: 10_000_004,
    limitBytes: 1_000_000,
  });
  expect(alloc).not.toHaveBeenCalled();
  expect(small.memory().liveAllocations).toBe(0);
  const most = fileOf({ a: entry('F32', [250_000], 0, 1_000_000) }, 1_000_000);
  (await ops.loadSafetensors(small, most))['a']?.dispose();
  await small.dispose();
});

test('a tensor of a type without a place on the device is refused, unless it is not asked for', async () => {
  const file = fileOf({ ids: entry('I64', [1], 0, 8), x: entry('F32', [1], 8, 12) }, 12);
  await expectRefused(file, {}, { code: 'UNSUPPORTED', message: /ids is I64\[1\]/, hint: /names/ });
  expect(await load(file, { names: ['x'] })).toEqual({ x: [0] });
  expect(await load(file, { names: (name) => name !== 'ids' })).toEqual({ x: [0] });
});

test('a type that is wanted is that of floats; a file does not depend on the order of its tensors', async () => {
  using floats = ops.tensor(backend, [1, 2]);
  using ids = ops.tensor(backend, [7], [1], { dtype: 'i32' });
  const file = await ops.writeSafetensors({ ids, floats });
  expect(file).toEqual(await ops.writeSafetensors({ floats, ids }));
  const read = await ops.loadSafetensors(backend, file, { dtype: 'f16' });
  expect(['floats', 'ids'].map((name) => read[name]?.dtype)).toEqual(['f16', 'i32']);
  for (const each of Object.values(read)) each.dispose();
  for (const name of ['a', 'ab', 'abc', 'abcd']) {
    const [length = 0] = new Uint32Array((await ops.writeSafetensors({ [name]: ids })).slice().buffer, 0, 1);
    expect(length % 8).toBe(0);
  }
});

test('the device is waited for before it has too much to do', async () => {
  const waits = vi.spyOn(backend, 'synchronize');
  const bytes = 2 ** 26 + 4;
  const read = await ops.loadSafetensors(backend, fileOf({ a: entry('F32', [bytes / 4], 0, bytes) }, bytes));
  expect(waits).toHaveBeenCalledTimes(1);
  read['a']?.dispose();
});

test('wrong arguments are refused', async () => {
  const file = readFileSync(at('two-of-2.safetensors'));
  await expectRefused(file, { names: ['bias'] }, { message: /has no tensor bias; it has b$/ });
  await expectRefused(file, { dtype: 'i8' as 'f16' }, { message: /must be f32, f16 or bf16, got i8/ });
  await expectRefused(7 as never, {}, { message: /takes bytes, a URL, a Response or a fileSource, got 7/ });
  await expectRefused(fileSource(at('none.safetensors')), {}, { message: /cannot open .*none.safetensors/ });
  await expectRefused(fileOf({ a: entry('F32', [1, 1, 1, 1, 1, 1, 1, 1, 1], 0, 4) }, 4), {}, { message: /8 axes/ });
  using x = ops.tensor(backend, [1]);
  await expect(ops.writeSafetensors({ __metadata__: x })).rejects.toThrow(/the name __metadata__/);
});

test('an abort ends it with its reason, and nothing remains', async () => {
  const file = fileSource(at('one-of-2.safetensors'));
  const reason = new Error('enough');
  await expect(ops.loadSafetensors(backend, file, { signal: AbortSignal.abort(reason) })).rejects.toBe(reason);
  const controller = new AbortController();
  const { signal } = controller;
  const onProgress = (): void => controller.abort(reason);
  await expect(ops.loadSafetensors(backend, file, { signal, onProgress })).rejects.toBe(reason);
  expectNothingLeft();

  // A body that never comes.
  const later = new AbortController();
  const silent = new Response(new ReadableStream({ pull: () => new Promise(() => undefined) }));
  const waiting = ops.loadSafetensors(backend, silent, { signal: later.signal });
  setTimeout(() => later.abort(reason), 1);
  await expect(waiting).rejects.toBe(reason);
  expectNothingLeft();
});

test('a file is replaced when all is written, and left as it is on an error', async () => {
  using x = ops.tensor(backend, [1, 2]);
  await saveSafetensors(at('kept.safetensors'), { x });
  const content = readFileSync(at('kept.safetensors'));
  expect(await ops.writeSafetensors({ x })).toEqual(Uint8Array.from(content));
  const gone = ops.tensor(backend, [3]);
  gone.dispose();
  await expect(saveSafetensors(at('kept.safetensors'), { gone })).rejects.toThrow(/was disposed/);
  expect(readFileSync(at('kept.safetensors'))).toEqual(content);
  expect(readdirSync(folder).filter((name) => name.includes('unfinished'))).toEqual([]);
});
