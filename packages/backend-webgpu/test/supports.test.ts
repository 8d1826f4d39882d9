import { afterAll, beforeAll, expect, it } from 'vitest';
import { WebGpuClient } from '../src/client/webgpu-client.ts';
import { WebGpuBackend } from '../src/index.ts';

/** A device of buffers that nearly nothing fits, of which its limits say nothing: operands are not refused for their sizes. */
const backend = new WebGpuBackend();
beforeAll(async () => {
  const open = WebGpuClient.open.bind(WebGpuClient);
  const opened: WebGpuClient[] = [];
  WebGpuClient.open = async (options) => {
    const client = await open(options);
    opened.push(client);
    return client;
  };
  await backend.init();
  WebGpuClient.open = open;
  for (const { traits } of opened) {
    Object.assign(traits, { isSoftware: false, maxBufferBytes: 64, maxBindingBytes: 2 ** 20 });
  }
});
afterAll(() => backend.dispose());

it('refuses what scratch memory exceeds a buffer for', () => {
  expect(backend.supports('reduce', { op: 'sum', shape: [1, 2 ** 20], axis: 1 })).toMatchObject({
    ok: false,
    reason: expect.stringContaining('exceed') as string,
  });
  const heads = { batch: 1, heads: 1, seqQ: 1, seqKv: 1000, headDim: 64, scale: 1, causal: false };
  expect(backend.supports('attention', heads).ok).toBe(false);
});

it('takes what needs none', () => {
  expect(backend.supports('reduce', { op: 'sum', shape: [100, 32], axis: 1 })).toEqual({ ok: true });
});
