import type { AttentionShape, DevicePtr, AttentionViews } from '@concord/backend-core';
import { attentionReference } from '@concord/backend-cpu/reference';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';

// The decoding of tokens, with the plans that GPUs get: each call has some keys more than the one before.

const HEADS = 4;
const HEAD_DIM = 8;
const CAPACITY = 200;

// Software devices compile for seconds.
vi.setConfig({ testTimeout: 60_000 });

const backend = new WebGpuBackend();
const open = WebGpuClient.open.bind(WebGpuClient);
beforeAll(async () => {
  vi.spyOn(WebGpuClient, 'open').mockImplementation(async (options) => {
    const client = await open(options);
    Object.assign(client.traits, { isSoftware: false });
    return client;
  });
  await backend.init();
});
afterAll(() => backend.dispose());

const numbers = (length: number, seed: number): Float32Array =>
  Float32Array.from({ length }, (_, i) => (Math.imul(i + seed, 0x9e3779b1) >>> 8) / 2 ** 23 - 1);

type Shape = Omit<AttentionShape & AttentionViews, 'batch' | 'heads' | 'headDim' | 'scale'>;

/** The greatest difference from the oracle of one call after the other, on the same memory. */
async function worst(shapes: readonly Shape[], kvHeads: number, keys = CAPACITY): Promise<number> {
  const sizes = { batch: 1, heads: HEADS, kvHeads, headDim: HEAD_DIM, scale: 0.5 };
  const rows = Math.max(...shapes.map(({ seqQ }) => seqQ));
  const values = {
    q: numbers(HEADS * rows * HEAD_DIM, 1),
    k: numbers(kvHeads * keys * HEAD_DIM, 2),
    v: numbers(kvHeads * keys * HEAD_DIM, 3),
    mask: numbers(HEADS * rows * keys, 4),
  };
  const upload = (data: Float32Array): DevicePtr => {
    const ptr = backend.alloc(data.byteLength);
    backend.copyHtod(ptr, data);
    return ptr;
  };
  const [q, k, v, mask] = [values.q, values.k, values.v, values.mask].map(upload) as [
    ...[DevicePtr, DevicePtr, DevicePtr, DevicePtr],
  ];
  const o = backend.alloc(values.q.byteLength);
  const cache = [kvHeads * keys * HEAD_DIM, keys * HEAD_DIM, HEAD_DIM] as const;
  let max = 0;
  for (const shape of shapes) {
    const call = { ...sizes, ...shape, strides: { k: cache, v: cache } };
    backend.attention({ ...call, q, k, v, o, ...(call.mask && { mask: { ...call.mask, ptr: mask } }) } as never);
    const got = new Float32Array(HEADS * shape.seqQ * HEAD_DIM);
    await backend.copyDtoh(got, o);
    const { value } = attentionReference(call, values.q, values.k, values.v, values.mask);
    for (const [i, x] of got.entries()) max = Math.max(max, Math.abs(x - (value[i] as number)));
  }
  for (const ptr of [q, k, v, mask, o]) backend.free(ptr);
  return max;
}

const LENGTHS = [1, 2, 63, 64, 65, 100, 127, 128, 129, CAPACITY];

it('one query sees the keys that there are', async () => {
  const shapes = LENGTHS.map((seqKv): Shape => ({ seqQ: 1, seqKv }));
  const causal = LENGTHS.map((seqKv): Shape => ({ seqQ: 1, seqKv, causal: true, causalOffset: seqKv - 1 }));
  expect(await worst([...shapes, ...causal], HEADS)).toBeLessThan(1e-5);
});

it('heads that share keys, and some queries at once', async () => {
  const shapes = LENGTHS.map((seqKv): Shape => ({ seqQ: 3, seqKv, causal: true, causalOffset: seqKv - 3 }));
  // Queries in front of all keys give 0.
  const blind: Shape = { seqQ: 3, seqKv: CAPACITY, causal: true, causalOffset: -2 };
  expect(await worst([...shapes, blind], 2)).toBeLessThan(1e-5);
});

it('a mask of each length', async () => {
  const shapes = LENGTHS.map((seqKv): Shape => {
    return { seqQ: 2, seqKv, mask: { strides: [0, 2 * CAPACITY, CAPACITY, 1] } };
  });
  expect(await worst(shapes, 2)).toBeLessThan(1e-5);
});

it('keys to the very end of their memory', async () => {
  expect(await worst([{ seqQ: 1, seqKv: 77 }], HEADS, 77)).toBeLessThan(1e-5);
});

it('a token more makes no plan and no bind group', async () => {
  const made = vi.spyOn(backend.native.device, 'createBindGroup');
  const shapes = (first: number): Shape[] =>
    Array.from({ length: 10 }, (_, i) => {
      const seqKv = first + i;
      return { seqQ: 1, seqKv, causal: true, causalOffset: seqKv - 1 };
    });
  await worst(shapes(130), HEADS);
  expect(made.mock.calls.length).toBeLessThanOrEqual(2);
  made.mockRestore();
});

it('queries, keys and values of all tokens in one memory, written by a product', async () => {
  const width = HEADS * HEAD_DIM;
  const row = 3 * width;
  const weights = numbers(width * row, 5);
  const [x, w, cache, o] = [4 * width, weights.byteLength, 4 * CAPACITY * row, 4 * width].map((bytes) =>
    backend.alloc(bytes),
  ) as [DevicePtr, DevicePtr, DevicePtr, DevicePtr];
  backend.copyHtod(w, weights);
  const along = [CAPACITY * row, HEAD_DIM, row] as const;
  const made = vi.spyOn(backend.native.device, 'createBindGroup');
  let groups = 0;
  for (let at = 0; at < 5; at++) {
    backend.copyHtod(x, numbers(width, 10 * at));
    backend.gemm({ m: 1, n: row, k: width, a: x, b: w, c: (cache + 4 * at * row) as DevicePtr });
    const shape = { batch: 1, heads: HEADS, seqQ: 1, seqKv: at + 1, headDim: HEAD_DIM, scale: 0.5 };
    const call = { ...shape, strides: { q: along, k: along, v: along } };
    const [q, k, v] = [4 * at * row, 4 * width, 8 * width].map((bytes) => (cache + bytes) as DevicePtr) as [
      ...[DevicePtr, DevicePtr, DevicePtr],
    ];
    backend.attention({ ...call, q, k, v, o });
    const all = new Float32Array(CAPACITY * row);
    await backend.copyDtoh(all, cache);
    const got = new Float32Array(width);
    await backend.copyDtoh(got, o);
    const { value } = attentionReference(call, all.subarray(at * row), all.subarray(width), all.subarray(2 * width));
    for (const [i, y] of got.entries()) expect(y).toBeCloseTo(value[i] as number, 4);
    if (at === 0) groups = made.mock.calls.length;
  }
  expect(made.mock.calls.length).toBe(groups);
  made.mockRestore();
  for (const ptr of [x, w, cache, o]) backend.free(ptr);
});
