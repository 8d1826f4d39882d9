import { type BackendError, type DevicePtr, isBackendError, offsetPtr } from '@concord/backend-core';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { webgpu, WebGpuBackend, type WebGpuBackendOptions } from '../src/index.ts';

const opened: WebGpuBackend[] = [];

async function open(options: WebGpuBackendOptions = {}): Promise<WebGpuBackend> {
  const backend = new WebGpuBackend(options);
  opened.push(backend);
  await backend.init();
  return backend;
}

afterEach(async () => {
  vi.restoreAllMocks();
  await Promise.all(opened.splice(0).map((backend) => backend.dispose()));
});

async function rejection(promise: Promise<unknown>): Promise<BackendError> {
  const error: unknown = await promise.then(
    () => expect.fail('it should have rejected'),
    (reason: unknown) => reason,
  );
  if (!isBackendError(error)) throw error;
  return error;
}

function thrown(action: () => unknown): BackendError {
  try {
    action();
  } catch (error) {
    if (isBackendError(error)) return error;
    throw error;
  }
  return expect.fail('it should have thrown');
}

describe('loss of the device', () => {
  it('reaches pending reads, waits, later calls and `lost`; a new object works', async () => {
    const backend = await open();
    const x = backend.alloc(16);
    const reading = rejection(backend.copyDtoh(new Uint8Array(16), x));
    const waiting = rejection(backend.synchronize());
    backend.native.device.destroy();
    expect((await reading).code).toBe('DEVICE_LOST');
    expect((await waiting).code).toBe('DEVICE_LOST');
    expect(await backend.lost).toMatchObject({ reason: 'device-lost' });
    expect(thrown(() => backend.alloc(16)).code).toBe('DEVICE_LOST');
    expect(thrown(() => backend.unary({ op: 'neg', n: 4, input: x, output: x })).code).toBe('DEVICE_LOST');
    backend.free(x);

    const next = await open();
    const y = next.alloc(16);
    next.fill(y, 7, 16);
    const got = new Uint8Array(16);
    await next.copyDtoh(got, y);
    expect([...got]).toEqual(Array.from({ length: 16 }, () => 7));
  });

  it('reaches every backend of the device', async () => {
    const [one, other] = await Promise.all([open(), open()]);
    expect(one.native.device).toBe(other.native.device);
    one.native.device.destroy();
    await Promise.all([one.lost, other.lost]);
    expect(thrown(() => other.alloc(4)).code).toBe('DEVICE_LOST');
  });
});

describe('what the device refuses', () => {
  it('is sticky, names the op, and is for the object that asked', async () => {
    const [bad, good] = await Promise.all([open(), open()]);
    const { buffer } = bad.native.bufferOf(bad.alloc(64));
    bad.native.encode((encoder) => encoder.copyBufferToBuffer(buffer, 2, buffer, 8, 4));
    const error = await rejection(bad.synchronize());
    expect(error).toMatchObject({ code: 'DEVICE_ERROR', op: 'encode', backend: 'webgpu' });
    expect(await rejection(bad.copyDtoh(new Uint8Array(4), good.alloc(4)))).toBe(error);
    expect(thrown(() => bad.alloc(4))).toBe(error);
    await good.synchronize();
  });

  it('names the ops of the batch', async () => {
    const backend = await open();
    const x = backend.alloc(64);
    backend.unary({ op: 'neg', n: 4, input: x, output: x });
    backend.native.bufferOf(x).buffer.destroy();
    const error = await rejection(backend.synchronize());
    expect(error).toMatchObject({ code: 'DEVICE_ERROR', op: 'unary' });
  });
});

describe('a kernel that does not compile', () => {
  /** A backend whose device cannot compile the kernels of `exp`. */
  async function openWithoutExp(): Promise<WebGpuBackend> {
    const backend = await open();
    const { device } = backend.native;
    const create = device.createShaderModule.bind(device);
    vi.spyOn(device, 'createShaderModule').mockImplementation(({ code, label = '' }) =>
      create({ code: label.startsWith('map exp ') ? `${code} fn broken(` : code, label }),
    );
    return backend;
  }
  const message = expect.stringMatching(/^device error: kernel map exp .* does not compile: .*line \d+/s) as string;
  const refusal = { code: 'DEVICE_ERROR', op: 'unary', backend: 'webgpu', message };

  it('fails the op that needs it, and no other before, behind or later', async () => {
    const backend = await openWithoutExp();
    const [x, y, z] = [backend.alloc(16), backend.alloc(16), backend.alloc(16)];
    const read = async (ptr: DevicePtr): Promise<number[]> => {
      const got = new Float32Array(4);
      await backend.copyDtoh(got, ptr);
      return [...got];
    };
    backend.copyHtod(x, Float32Array.of(1, -2, 3, -4));
    // All in one batch, had the device known the kernel.
    backend.unary({ op: 'abs', n: 4, input: x, output: y });
    backend.unary({ op: 'exp', n: 4, input: x, output: z });
    backend.unary({ op: 'neg', n: 4, input: x, output: x });
    expect(await rejection(backend.synchronize())).toMatchObject(refusal);
    await backend.synchronize();
    expect(await read(y)).toEqual([1, 2, 3, 4]);
    expect(await read(x)).toEqual([-1, 2, -3, 4]);
    expect(thrown(() => backend.unary({ op: 'exp', n: 4, input: x, output: z }))).toMatchObject(refusal);
    backend.binary({ op: 'add', n: 4, a: x, b: y, output: z });
    expect(await read(z)).toEqual([0, 4, 0, 8]);
  });

  it('rejects every wait under way', async () => {
    const backend = await openWithoutExp();
    const x = backend.alloc(16);
    backend.unary({ op: 'exp', n: 4, input: x, output: x });
    const waits = [backend.synchronize(), backend.copyDtoh(new Uint8Array(16), x)].map(rejection);
    for (const error of await Promise.all(waits)) expect(error).toMatchObject(refusal);
    await backend.copyDtoh(new Uint8Array(16), x);
  });

  it('may compile later, when it is prepared', async () => {
    const backend = await openWithoutExp();
    const [x, y] = [backend.alloc(16), backend.alloc(16)];
    const call = { op: 'exp', n: 4 } as const;
    expect(await rejection(backend.prepare([{ op: 'unary', call }]))).toMatchObject(refusal);
    expect(thrown(() => backend.unary({ ...call, input: x, output: y }))).toMatchObject(refusal);
    vi.restoreAllMocks();
    await backend.prepare([{ op: 'unary', call }]);
    backend.unary({ ...call, input: x, output: y });
    await backend.synchronize();
  });
});

describe("the caller's commands", () => {
  const copyOf = (
    backend: WebGpuBackend,
  ): { copy: (encoder: GPUCommandEncoder) => void; read: () => Promise<number[]> } => {
    const [x, y] = [backend.alloc(16), backend.alloc(16)];
    // Before the ops: what comes later submits them.
    const [from, to] = [backend.native.bufferOf(x), backend.native.bufferOf(y)];
    backend.copyHtod(x, Float32Array.of(1, 2, 3, 4));
    backend.unary({ op: 'neg', n: 4, input: x, output: x });
    return {
      copy: (encoder) => encoder.copyBufferToBuffer(from.buffer, from.offset, to.buffer, to.offset, 16),
      read: async () => {
        backend.unary({ op: 'neg', n: 4, input: y, output: y });
        const got = new Float32Array(4);
        await backend.copyDtoh(got, y);
        return [...got];
      },
    };
  };

  it('run between the ops around them', async () => {
    const backend = await open();
    const { copy, read } = copyOf(backend);
    backend.native.encode(copy);
    expect(await read()).toEqual([1, 2, 3, 4]);
  });

  it('are dropped when the callback throws, also inside a pass', async () => {
    const backend = await open();
    const { copy, read } = copyOf(backend);
    const mistake = new Error('mine');
    expect(() =>
      backend.native.encode((encoder) => {
        encoder.beginComputePass();
        throw mistake;
      }),
    ).toThrow(mistake);
    backend.native.encode(copy);
    expect(await read()).toEqual([1, 2, 3, 4]);
  });

  it('are dropped when the callback is async', async () => {
    const backend = await open();
    const { copy, read } = copyOf(backend);
    const z = backend.native.bufferOf(backend.alloc(16));
    const late = async (encoder: GPUCommandEncoder): Promise<void> => {
      encoder.clearBuffer(z.buffer, z.offset, 16);
      await Promise.resolve();
      throw new Error('this is not reported');
    };
    expect(thrown(() => backend.native.encode(late as (encoder: GPUCommandEncoder) => void))).toMatchObject({
      code: 'INVALID_ARGUMENT',
      detail: 'the callback of encode must not return a promise',
    });
    backend.native.encode(copy);
    expect(await read()).toEqual([1, 2, 3, 4]);
  });

  it('may not call ops', async () => {
    const backend = await open();
    const { copy, read } = copyOf(backend);
    const z = backend.alloc(16);
    for (const op of [
      () => backend.copyHtod(z, new Uint8Array(16)),
      () => backend.unary({ op: 'neg', n: 4, input: z, output: z }),
      () => backend.flush(),
    ]) {
      const error = thrown(() => backend.native.encode(op));
      expect(error).toMatchObject({ code: 'INVALID_ARGUMENT', hint: 'call ops before or after encode' });
    }
    backend.native.encode(copy);
    expect(await read()).toEqual([1, 2, 3, 4]);
  });

  it('fail alone, with their name, when a pass is left open', async () => {
    const backend = await open();
    backend.native.encode((encoder) => void encoder.beginComputePass());
    expect(await rejection(backend.synchronize())).toMatchObject({ code: 'DEVICE_ERROR', op: 'encode' });
  });
});

describe('out of memory', () => {
  it('beyond the largest buffer is known at once', async () => {
    const backend = await open();
    const { maxAllocationBytes } = backend.capabilities.limits;
    const error = thrown(() => backend.alloc(maxAllocationBytes + 1));
    expect(error).toMatchObject({ code: 'OUT_OF_MEMORY', requestedBytes: maxAllocationBytes + 1 });
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.synchronize();
  });

  it('that the device finds later is sticky and names alloc', async () => {
    const backend = await open();
    // Drivers claim a little more than they can allocate; the first to use the memory gets it.
    const requestedBytes = backend.capabilities.limits.maxAllocationBytes;
    for (let i = 0; i < 64; i++) backend.alloc(requestedBytes);
    const error = await rejection(backend.synchronize());
    expect(error).toMatchObject({ code: 'OUT_OF_MEMORY', op: 'alloc', requestedBytes, backend: 'webgpu' });
    expect(thrown(() => backend.alloc(4))).toBe(error);
  });
});

describe('memory', () => {
  it('of scratch comes back when an op has returned', async () => {
    const backend = await open();
    const [a, b, c] = [backend.alloc(2 ** 16), backend.alloc(2 ** 16), backend.alloc(2 ** 16)];
    // The copy of an input that lies in the memory of the output.
    const op = () => backend.gemm({ m: 64, n: 64, k: 64, a, b: c, c: offsetPtr(c, 32_768) });
    for (const ptr of [a, b, c]) backend.fill(ptr, 0, 2 ** 16);
    op();
    const { allocatedBytes } = backend.native.memory();
    for (let i = 0; i < 100; i++) op();
    expect(backend.native.memory().allocatedBytes).toBe(allocatedBytes);
    await backend.synchronize();
  });

  it('comes back: freed buffers are reused, and the pool is capped', async () => {
    const backend = await open({ maxPooledBytes: 2 ** 20 });
    for (let i = 0; i < 300; i++) {
      const x = backend.alloc(65_536);
      backend.fill(x, i % 256, 65_536);
      backend.free(x);
    }
    expect(backend.native.memory()).toMatchObject({ live: 0, allocatedBytes: 65_536, pooledBytes: 65_536 });
    const many = Array.from({ length: 64 }, () => backend.alloc(65_536));
    for (const ptr of many) backend.free(ptr);
    await backend.synchronize();
    expect(backend.memory()).toMatchObject({ inUseBytes: 0, liveAllocations: 0 });
    const { pooledBytes, allocatedBytes } = backend.native.memory();
    expect(pooledBytes).toBeLessThanOrEqual(2 ** 20);
    expect(allocatedBytes).toBe(pooledBytes);
  });

  it('of a large temporary is reused, whole', async () => {
    const backend = await open();
    const bytes = 128 * 2 ** 20;
    for (let i = 0; i < 5; i++) backend.free(backend.alloc(bytes));
    expect(backend.native.memory()).toMatchObject({ live: 0, allocatedBytes: bytes, pooledBytes: bytes });
  });

  it('of more than half of the pool is really destroyed, and before it piles up, without a wait', async () => {
    const backend = await open({ maxPooledBytes: 2 ** 20 });
    const destroy = vi.spyOn(
      Object.getPrototypeOf(backend.native.bufferOf(backend.alloc(4)).buffer) as GPUBuffer,
      'destroy',
    );
    const bytes = 128 * 2 ** 20;
    for (let i = 0; i < 40; i++) backend.free(backend.alloc(bytes));
    expect(backend.native.memory().allocatedBytes).toBeLessThanOrEqual(4 * bytes);
    await backend.synchronize();
    expect(destroy).toHaveBeenCalledTimes(40);
    expect(backend.native.memory()).toMatchObject({ live: 1, allocatedBytes: 256, pooledBytes: 0, retiredBytes: 0 });
    destroy.mockRestore();
  });

  it.each([
    [2 ** 20, 'kept', {}],
    [80 * 2 ** 20, 'kept', {}],
    [2 ** 20, 'destroyed', { maxPooledBytes: 2 ** 20 }],
  ])('of %d bytes is not %s while it is still in use', async (bytes, _, options) => {
    const backend = await open(options);
    const x = backend.alloc(bytes);
    const y = backend.alloc(bytes);
    backend.fill(x, 1, bytes);
    backend.copyDtod(y, x, bytes);
    backend.free(x);
    const z = backend.alloc(bytes);
    backend.copyHtod(z, new Uint8Array(bytes).fill(2));
    const got = new Uint8Array(bytes);
    await backend.copyDtoh(got, y);
    expect(got.every((byte) => byte === 1)).toBe(true);
    backend.free(z);
  });
});

it.each([
  [{ maxBindingBytes: 1000 }, 'maxBindingBytes must be an integer of at least 1024, got 1000'],
  [{ maxWorkgroupsPerDimension: 0.5 }, 'maxWorkgroupsPerDimension must be an integer of at least 1, got 0.5'],
  [{ maxPooledBytes: 0, maxPoolBytes: 1 }, 'options has no field maxPoolBytes; did you mean maxPooledBytes?'],
  [{ dawn: { enable: [], robust: true } }, 'dawn has no field robust; did you mean robustness?'],
  [{ software: 'never' as 'allow' }, 'software must be allow or refuse, got never'],
  [{ adapter: 'Voodoo 2' }, 'there is no adapter "Voodoo 2"'],
  [{ adapter: 99 }, 'there is no adapter 99'],
  [{ adapter: -1 }, 'adapter must be an index or part of a name, got -1'],
  [{ adapter: '' }, 'adapter must be an index or part of a name, got '],
  [{ powerPreference: 'fast' as 'low-power' }, 'powerPreference must be low-power or high-performance, got fast'],
  [{ dawn: { enable: 'x' as never } }, 'dawn.enable must be an array of toggles'],
  [{ dawn: { robustness: 0 as never } }, 'dawn.robustness must be true or false, got 0'],
  [{ dawn: { matrixUnits: 'no' as never } }, 'dawn.matrixUnits must be true or false, got no'],
])('init with %o is INVALID_ARGUMENT', async (options, detail) => {
  expect(await rejection(new WebGpuBackend(options).init())).toMatchObject({ code: 'INVALID_ARGUMENT', detail });
});

it('the provider refuses options where they are written', () => {
  const detail = 'software must be allow or refuse, got never';
  expect(() => webgpu({ software: 'never' as 'allow' })).toThrow(
    expect.objectContaining({ code: 'INVALID_ARGUMENT', detail }),
  );
});

it.each([
  [{ device: {} as GPUDevice }, undefined],
  [{ dawn: { backend: 'voodoo' } }, /^Dawn: .*voodoo/],
])('probe with %o does not throw', async (options, message) => {
  const result = await webgpu(options).probe();
  expect(result).toMatchObject({ available: false });
  if (message !== undefined) expect((result as { message: string }).message).toMatch(message);
});

it('a software device can be refused', async () => {
  const error = await rejection(new WebGpuBackend({ software: 'refuse' }).init());
  expect(error).toMatchObject({ code: 'BACKEND_UNAVAILABLE', reason: 'no-device' });
  expect(error.message).toContain('only software devices are here');
});
