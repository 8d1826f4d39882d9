import { isBackendError } from '@concord/backend-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { WebGpuBackend, WebGpuClient } from '../src/index.ts';

// GPU objects that the device refuses: each refusal reaches who waits, with its own reason.

const opened: WebGpuBackend[] = [];

async function open(): Promise<WebGpuBackend> {
  const backend = new WebGpuBackend();
  opened.push(backend);
  await backend.init();
  return backend;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((backend) => backend.dispose()));
});

/** Makes the first object that `change` gives another descriptor for with that one. */
function distort<K extends 'createBindGroup' | 'createBuffer' | 'createComputePipeline'>(
  { native: { device } }: WebGpuBackend,
  method: K,
  change: (asked: Parameters<GPUDevice[K]>[0]) => Parameters<GPUDevice[K]>[0] | undefined,
): void {
  const make = device[method].bind(device) as (asked: Parameters<GPUDevice[K]>[0]) => never;
  let isDone = false;
  vi.spyOn(device, method as 'createBuffer').mockImplementation((asked) => {
    const changed = isDone ? undefined : change(asked);
    isDone ||= changed !== undefined;
    return make(changed ?? asked);
  });
}

it('a bind group: the error is of its binding, not only of the submit that uses it', async () => {
  const backend = await open();
  distort(backend, 'createBindGroup', (asked) => ({ ...asked, entries: [...asked.entries].slice(1) }));
  const x = backend.alloc(16);
  backend.unary({ op: 'neg', n: 4, input: x, output: x });
  await expect(backend.synchronize()).rejects.toMatchObject({
    code: 'DEVICE_ERROR',
    op: expect.stringMatching(/^map neg/) as string,
    message: expect.stringMatching(/number of entries|binding/i) as string,
  });
});

it('staging memory: the read says what it was for', async () => {
  const backend = await open();
  const x = backend.alloc(64);
  backend.fill(x, 1, 64);
  distort(backend, 'createBuffer', (asked) => (asked.label === 'staging' ? { ...asked, usage: 2 ** 20 } : undefined));
  await expect(backend.copyDtoh(new Uint8Array(64), x)).rejects.toMatchObject({
    code: 'DEVICE_ERROR',
    op: 'copyDtoh',
    message: expect.stringContaining('64 bytes of staging memory') as string,
  });
});

describe('a pipeline of a module that compiles', () => {
  async function openWithoutExp(): Promise<WebGpuBackend> {
    const backend = await open();
    distort(backend, 'createComputePipeline', (asked) =>
      asked.label?.startsWith('map exp ') === true
        ? { ...asked, compute: { ...asked.compute, entryPoint: 'missing' } }
        : undefined,
    );
    return backend;
  }

  it('fails the op that needs it, and each later one', async () => {
    const backend = await openWithoutExp();
    const x = backend.alloc(16);
    const refusal = { code: 'DEVICE_ERROR', op: 'unary', message: expect.stringContaining('missing') as string };
    backend.unary({ op: 'exp', n: 4, input: x, output: x });
    await expect(backend.synchronize()).rejects.toMatchObject(refusal);
    let later: unknown;
    try {
      backend.unary({ op: 'exp', n: 4, input: x, output: x });
    } catch (error) {
      later = error;
    }
    expect(isBackendError(later)).toBe(true);
    expect(later).toMatchObject(refusal);
    await backend.synchronize();
  });

  it('drops no copy after the op', async () => {
    const backend = await openWithoutExp();
    const [x, y, z] = [backend.alloc(16), backend.alloc(16), backend.alloc(16)];
    backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
    backend.fill(y, 0, 16);
    backend.unary({ op: 'exp', n: 4, input: x, output: z });
    backend.copyDtod(y, x, 16);
    await expect(backend.synchronize()).rejects.toMatchObject({ op: 'unary' });
    const got = new Float32Array(4);
    await backend.copyDtoh(got, y);
    expect([...got]).toEqual([1, 2, 3, 4]);
  });
});

it('of two failures waits report the first', async () => {
  const client = await WebGpuClient.open();
  const buffer = client.bufferOf(client.allocate(64));
  for (const op of ['first', 'second']) {
    client.encode((encoder) => encoder.copyBufferToBuffer(buffer, 2, buffer, 8, 4), op);
  }
  await expect(client.finish()).rejects.toMatchObject({ code: 'DEVICE_ERROR', op: 'first' });
  await expect(client.finish()).rejects.toMatchObject({ op: 'first' });
  expect(client.failure).toMatchObject({ op: 'first' });
  client.dispose();
});
