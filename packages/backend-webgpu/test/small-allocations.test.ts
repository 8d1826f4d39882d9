import type { DevicePtr } from '@concord/backend-core';
import { afterEach, expect, it, vi } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';

let opened: WebGpuBackend | undefined;

async function open(): Promise<WebGpuBackend> {
  opened = new WebGpuBackend();
  await opened.init();
  return opened;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await opened?.dispose();
});

/** Four numbers in their own memory. */
function upload(backend: WebGpuBackend, first: number): DevicePtr {
  const ptr = backend.alloc(16);
  backend.copyHtod(
    ptr,
    Float32Array.from({ length: 4 }, (_, i) => first + i),
  );
  return ptr;
}

async function read(backend: WebGpuBackend, ptr: DevicePtr): Promise<number[]> {
  const numbers = new Float32Array(4);
  await backend.copyDtoh(numbers, ptr);
  return [...numbers];
}

it('100,000 small allocations take few buffers, and give them back', async () => {
  const backend = await open();
  const create = vi.spyOn(backend.native.device, 'createBuffer');
  const all = Array.from({ length: 100_000 }, () => backend.alloc(64));
  for (const ptr of all) backend.fill(ptr, 0, 64);
  const buffers = create.mock.calls.length;
  expect(buffers).toBe(Math.ceil(100_000 / 256));
  expect(backend.native.memory()).toMatchObject({ live: 100_000, allocatedBytes: buffers * 65_536 });
  for (const ptr of all) backend.free(ptr);
  await backend.synchronize();
  const { live, allocatedBytes, pooledBytes } = backend.native.memory();
  expect(live).toBe(0);
  expect(allocatedBytes).toBe(pooledBytes);
});

it('ops, copies, fills and shaders of the caller work on small allocations that lie together', async () => {
  const backend = await open();
  const [a, b, c, d] = [1, 10, 20, 30].map((first) => upload(backend, first)) as [
    DevicePtr,
    DevicePtr,
    DevicePtr,
    DevicePtr,
  ];
  const buffer = (ptr: DevicePtr): GPUBuffer => backend.native.bufferOf(ptr).buffer;
  backend.binary({ op: 'add', n: 4, a, b, output: b });
  backend.copyDtod(c, a, 16);
  backend.fill(d, 0, 8);
  expect(await read(backend, a)).toEqual([1, 2, 3, 4]);
  expect(await read(backend, b)).toEqual([11, 13, 15, 17]);
  expect(await read(backend, c)).toEqual([1, 2, 3, 4]);
  expect(await read(backend, d)).toEqual([0, 0, 32, 33]);
  backend.native.encode((encoder) => encoder.copyBufferToBuffer(buffer(b), 0, buffer(a), 0, 16));
  expect(await read(backend, a)).toEqual([11, 13, 15, 17]);
  const own = buffer(a);
  backend.binary({ op: 'add', n: 4, a: b, b: c, output: a });
  expect(buffer(a)).toBe(own);
  expect(await read(backend, a)).toEqual([12, 15, 18, 21]);
});

it('a piece that is freed and taken again holds what was written last', async () => {
  const backend = await open();
  const keeper = upload(backend, 100);
  const results = [];
  for (let i = 0; i < 300; i++) {
    const [x, y] = [upload(backend, i), backend.alloc(16)];
    backend.binary({ op: 'add', n: 4, a: x, b: keeper, output: x });
    backend.copyDtod(y, x, 16);
    backend.free(x);
    results.push(y);
  }
  for (const [i, y] of results.entries()) expect(await read(backend, y)).toEqual([0, 2, 4, 6].map((n) => 100 + i + n));
});

it('a buffer that the caller asks for holds what was queued before', async () => {
  const backend = await open();
  const source = upload(backend, 1);
  const writes: Readonly<Record<string, (to: DevicePtr) => void>> = {
    'an op': (output) => backend.unary({ op: 'neg', n: 4, input: source, output }),
    'a copy': (to) => backend.copyDtod(to, source, 16),
    'a fill': (to) => backend.fill(to, 7, 16),
    'an upload': (to) => backend.copyHtod(to, Float32Array.of(9, 8, 7, 6)),
    'an op in place': (output) => backend.unary({ op: 'neg', n: 4, input: output, output }),
  };
  for (const [name, write] of Object.entries(writes)) {
    const [asked, plain] = [upload(backend, 30), upload(backend, 30)];
    // Both have their places, beside each other.
    backend.unary({ op: 'neg', n: 4, input: asked, output: asked });
    backend.unary({ op: 'neg', n: 4, input: plain, output: plain });
    await backend.synchronize();
    write(asked);
    write(plain);
    const { buffer } = backend.native.bufferOf(asked);
    const copy = upload(backend, 0);
    backend.native.encode((encoder) =>
      encoder.copyBufferToBuffer(buffer, 0, backend.native.bufferOf(copy).buffer, 0, 16),
    );
    const want = await read(backend, plain);
    expect(await read(backend, copy), name).toEqual(want);
    expect(await read(backend, asked), name).toEqual(want);
  }
});

it('pieces that were left for a buffer of their own are taken again', async () => {
  const backend = await open();
  const keeper = upload(backend, 1);
  const allocated = [];
  for (let round = 0; round < 12; round++) {
    const all = Array.from({ length: 200 }, (_, i) => upload(backend, i));
    for (const ptr of all) backend.native.bufferOf(ptr);
    for (const ptr of all) backend.free(ptr);
    await backend.synchronize();
    allocated.push(backend.native.memory().allocatedBytes);
  }
  expect(allocated.at(-1)).toBe(allocated[2]);
  expect(await read(backend, keeper)).toEqual([1, 2, 3, 4]);
});
