import { type ComputeBackend, type DevicePtr, download, type Recording, upload } from '@concord/backend-core';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebGpuBackend } from '../src/index.ts';
import { MAX_COMMANDS } from '../src/client/command-stream.ts';

let backend: WebGpuBackend;
beforeAll(async () => {
  backend = await WebGpuBackend.create();
});
afterAll(() => backend.dispose());

const record = (work: Parameters<NonNullable<ComputeBackend['record']>>[0]): Recording => backend.record(work);

/** A length that no other test of this file uses in its kernels' sizes. */
const N = 320;

function add(a: DevicePtr, b: DevicePtr, output: DevicePtr, n = N): void {
  backend.binary({ op: 'add', n, a, b, output });
}

it('replays before and after the device has judged the kernels, more commands than a batch has', async () => {
  const x = upload(backend, new Float32Array(N).fill(1));
  const one = upload(backend, new Float32Array(N).fill(1));
  const turns = 3 * MAX_COMMANDS;
  const recording = record(() => {
    for (let turn = 0; turn < turns; turn++) add(x, one, x);
  });
  // Not judged yet.
  recording.replay();
  expect(new Set(await download(backend, x, N))).toEqual(new Set([1 + 2 * turns]));
  recording.replay();
  recording.replay();
  expect(new Set(await download(backend, x, N))).toEqual(new Set([1 + 4 * turns]));
  const { runs } = backend.variants();
  expect(Object.values(runs).reduce((all, each) => all + each, 0)).toBeGreaterThanOrEqual(4 * turns);
  recording.dispose();
  backend.free(x);
  backend.free(one);
});

it('finds memory that has moved since', async () => {
  const [a, b, out] = [4, 4, 4].map((bytes) => backend.alloc(bytes)) as [DevicePtr, DevicePtr, DevicePtr];
  backend.copyHtod(a, Float32Array.of(3));
  backend.copyHtod(b, Float32Array.of(4));
  const recording = record(() => add(a, b, out, 1));
  await backend.synchronize();
  recording.replay();
  await backend.synchronize();
  for (const ptr of [a, b, out]) {
    // From now on it is in its own buffer.
    backend.native.bufferOf(ptr);
    backend.copyHtod(a, Float32Array.of(5));
    recording.replay();
    expect(await download(backend, out, 1)).toEqual(Float32Array.of(9));
  }
  recording.dispose();
  for (const ptr of [a, b, out]) backend.free(ptr);
});

it('keeps its bind groups where other memory moves, and refuses commands of the caller', async () => {
  const [x, small, other] = [4 * N, 4, 4].map((bytes) => backend.alloc(bytes)) as [DevicePtr, DevicePtr, DevicePtr];
  backend.fill(x, 0, 4 * N);
  const recording = record(() => {
    add(x, x, x);
    expect(() => backend.native.encode(() => undefined)).toThrow('native.encode cannot be recorded');
  });
  await backend.synchronize();
  recording.replay();
  const make = vi.spyOn(backend.native.device, 'createBindGroup');
  backend.copyHtod(small, Float32Array.of(1));
  backend.copyHtod(other, Float32Array.of(1));
  backend.native.bufferOf(small);
  backend.native.bufferOf(other);
  recording.replay();
  await backend.synchronize();
  expect(make).not.toHaveBeenCalled();
  make.mockRestore();
  recording.dispose();
  for (const ptr of [x, small, other]) backend.free(ptr);
});

it('has its own scratch memory, and is disposed with commands that were not submitted', async () => {
  const columns = 2 ** 16;
  const input = upload(
    backend,
    Float32Array.from({ length: columns }, (_, i) => (i * 7919) % columns),
  );
  const [values, indices, sum] = [8 * 4, 8 * 4, 4].map((bytes) => backend.alloc(bytes)) as [
    DevicePtr,
    DevicePtr,
    DevicePtr,
  ];
  const before = backend.native.memory();
  const recording = record(() => {
    backend.topK({ rows: 1, columns, k: 8, input, values, indices });
    backend.reduce({ op: 'max', shape: [columns], axis: 0, input, output: sum });
  });
  const want = Float32Array.from({ length: 8 }, (_, i) => columns - 1 - i);
  for (let turn = 0; turn < 3; turn++) {
    await backend.synchronize();
    backend.fill(values, 0, 32);
    backend.fill(sum, 0, 4);
    recording.replay();
    if (turn === 2) recording.dispose();
    expect(await download(backend, values, 8)).toEqual(want);
    expect(await download(backend, sum, 1)).toEqual(want.slice(0, 1));
  }
  expect(backend.native.memory().live).toBe(before.live);
  for (const ptr of [input, values, indices, sum]) backend.free(ptr);
});

it('keeps the scratch memory of all its calls apart from others, whatever they need', async () => {
  const columns = 2 ** 14;
  const rows = 16;
  const input = upload(
    backend,
    Float32Array.from({ length: rows * columns }, (_, i) => i % columns),
  );
  const [values, indices] = [backend.alloc(rows * 32), backend.alloc(rows * 32)];
  const recording = record(() => {
    backend.topK({ rows: 1, columns, k: 8, input, values, indices });
    backend.topK({ rows, columns, k: 8, input, values, indices });
  });
  await backend.synchronize();
  recording.replay();
  const others = Array.from({ length: 24 }, (_, i) => {
    const ptr = backend.alloc(4096 * (1 + (i % 4)));
    backend.fill(ptr, 0x11, 4096);
    return ptr;
  });
  recording.replay();
  const want = Float32Array.from({ length: 8 * rows }, (_, i) => columns - 1 - (i % 8));
  expect(await download(backend, values, 8 * rows)).toEqual(want);
  for (const ptr of others) {
    const got = new Uint8Array(4096);
    await backend.copyDtoh(got, ptr);
    expect(got.every((byte) => byte === 0x11)).toBe(true);
    backend.free(ptr);
  }
  recording.dispose();
  for (const ptr of [input, values, indices]) backend.free(ptr);
});

it('may be disposed where nothing else may be queued', async () => {
  const x = upload(backend, new Float32Array(N).fill(1));
  const { live } = backend.native.memory();
  const recording = record(() => add(x, x, x));
  await backend.synchronize();
  recording.replay();
  backend.native.encode(() => recording.dispose());
  expect(new Set(await download(backend, x, N))).toEqual(new Set([4]));
  expect(backend.native.memory().live).toBe(live);
  backend.free(x);
});

it('is given back with the backend', async () => {
  const own = await WebGpuBackend.create();
  const x = upload(own, new Float32Array(N).fill(1));
  const recording = own.record(() => own.binary({ op: 'add', n: N, a: x, b: x, output: x }));
  await own.synchronize();
  recording.replay();
  recording.replay();
  await own.dispose();
  expect(() => recording.replay()).toThrow('disposed');
  recording.dispose();
});
