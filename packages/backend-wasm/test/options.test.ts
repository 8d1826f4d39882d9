import { afterEach, describe, expect, it, vi } from 'vitest';
import { wasm, WasmBackend, type WasmBackendOptions } from '../src/index.ts';

afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllGlobals();
});

it.each([
  [{ memoryLimitByte: 100 }, 'options has no field memoryLimitByte; did you mean memoryLimitBytes?'],
  [{ mode: 'thread' }, 'mode must be one of threads, worker, inline, got "thread"'],
  [{ threads: 0 }, 'threads must be an integer from 1 to 64, got 0'],
  [{ threads: 65 }, 'threads must be an integer from 1 to 64, got 65'],
  [{ threads: '2' }, 'threads must be an integer from 1 to 64, got "2"'],
  [{ threads: 2, mode: 'inline' }, 'threads must be 1 in mode inline, got 2'],
  [{ relaxedSimd: 1 }, 'relaxedSimd must be a boolean, got 1'],
  [{ workerUrl: {} }, 'workerUrl must be a string or a URL, got Object'],
])('%o is refused', (options, detail) => {
  const error = expect.objectContaining({ code: 'INVALID_ARGUMENT', detail }) as Error;
  expect(() => new WasmBackend(options as WasmBackendOptions)).toThrow(error);
  expect(() => wasm(options as WasmBackendOptions)).toThrow(error);
});

it.each([{ threads: 1 }, { threads: 64 }, { threads: 1, mode: 'inline' }, { memoryLimitBytes: 2 ** 20 }] as const)(
  '%o is taken',
  async (options) => {
    expect(() => new WasmBackend(options)).not.toThrow();
    await expect(wasm(options).create()).resolves.toBeInstanceOf(WasmBackend);
  },
);

it('the options decide the mode and the threads, and the device says so', async () => {
  await using threads = await WasmBackend.create({ threads: 3, relaxedSimd: false });
  expect(threads.native.mode).toBe('threads');
  expect(threads.device).toMatchObject({ type: 'cpu', computeUnits: 3 });
  expect(threads.device.name).toMatch(/^CPU, 3 threads, SIMD \(/);
  await using worker = await WasmBackend.create({ mode: 'worker' });
  expect(worker.native.mode).toBe('worker');
  expect(worker.device.name).toMatch(/^CPU, one worker, SIMD/);
  await using inline = await WasmBackend.create({ mode: 'inline' });
  expect(inline.native.mode).toBe('inline');
  expect(inline.device.name).toMatch(/^CPU, no worker, SIMD/);
});

describe('the provider', () => {
  it('offers the device that it would make, without starting a worker', async () => {
    for (const options of [{}, { mode: 'worker' }, { mode: 'inline' }, { threads: 2 }] as const) {
      const probed = await wasm(options).probe();
      await using backend = await WasmBackend.create(options);
      expect(probed).toEqual({ available: true, devices: [backend.device] });
    }
  });

  it('says what a page lacks whose memory is not shared', async () => {
    vi.stubGlobal('crossOriginIsolated', false);
    const probed = await wasm().probe();
    await using backend = await WasmBackend.create();
    expect(probed).toEqual({ available: true, devices: [backend.device] });
    expect(backend.device.driver).toContain('; no threads: the page is not cross-origin isolated');
    await expect(WasmBackend.create({ mode: 'threads' })).rejects.toMatchObject({
      code: 'BACKEND_UNAVAILABLE',
      hint: 'serve the page with Cross-Origin-Opener-Policy and Cross-Origin-Embedder-Policy',
    });
  });

  it('says that an engine has no SIMD, or no relaxed SIMD that was asked for', async () => {
    const { validate } = WebAssembly;
    // The module with a relaxed instruction is the second one that is asked for.
    const spy = vi
      .spyOn(WebAssembly, 'validate')
      .mockImplementation((bytes) => spy.mock.calls.length < 2 && validate(bytes));
    const probed = await wasm({ relaxedSimd: true }).probe();
    expect(probed).toMatchObject({
      available: false,
      reason: 'wrong-platform',
      message: 'the engine has no relaxed SIMD',
    });
    spy.mockReturnValue(false);
    const reason = { reason: 'wrong-platform', message: 'the engine has no SIMD of WebAssembly' };
    expect(await wasm().probe()).toMatchObject({ available: false, ...reason });
  });

  it('takes the options of whoever selects it beside its own', async () => {
    await using backend = await wasm({ mode: 'inline' }).create({ memoryLimitBytes: 100 });
    await backend.init();
    expect(backend.device.name).toMatch(/^CPU, no worker/);
    expect(() => backend.alloc(101)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
  });
});

it('addressOf tells where a pointer points', async () => {
  await using backend = await WasmBackend.create();
  const x = backend.alloc(100);
  expect(backend.native.addressOf(x) % 64).toBe(0);
  expect(backend.native.addressOf((x + 10) as never)).toBe(backend.native.addressOf(x) + 10);
  backend.free(x);
  expect(() => backend.native.addressOf(x)).toThrow(expect.objectContaining({ code: 'INVALID_ARGUMENT' }));
  await backend.dispose();
  expect(() => backend.native.addressOf(x)).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
  expect(() => backend.native.mode).toThrow(expect.objectContaining({ code: 'DISPOSED' }));
});
