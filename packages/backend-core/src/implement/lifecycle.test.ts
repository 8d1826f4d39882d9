import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectError, expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import { BackendError, type ComputeBackend, NULL_PTR, type OpName, OP_NAMES } from '../index.ts';
import type { InitResult } from './lifecycle.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** Every call of the contract that needs an initialized object, with arguments that are wrong besides. */
const SYNC_CALLS: Array<[string, (backend: ComputeBackend) => unknown]> = [
  ...OP_NAMES.map((op: OpName): [string, (backend: ComputeBackend) => unknown] => [
    op,
    (backend) => (backend[op] as (call: unknown) => void).call(backend, undefined),
  ]),
  ['alloc', (backend) => backend.alloc(0)],
  ['copyHtod', (backend) => backend.copyHtod(NULL_PTR, null as never)],
  ['copyDtod', (backend) => backend.copyDtod(NULL_PTR, NULL_PTR, -1)],
  ['fill', (backend) => backend.fill(NULL_PTR, -1, -1)],
  ['flush', (backend) => backend.flush()],
  ['supports', (backend) => backend.supports('gemm')],
];
const ASYNC_CALLS: Array<[string, (backend: ComputeBackend) => Promise<void>]> = [
  ['copyDtoh', (backend) => backend.copyDtoh(null as never, NULL_PTR, null as never)],
  ['synchronize', (backend) => backend.synchronize(null as never)],
  ['prepare', (backend) => backend.prepare(null as never)],
];

describe('the state comes before every other check', () => {
  it.each(SYNC_CALLS)('%s', async (_name, call) => {
    const backend = new MemoryBackend();
    const error = expectError(() => call(backend), 'NOT_INITIALIZED');
    expect(error).toMatchObject({ message: 'backend not initialized', hint: 'await backend.init() first' });
    await backend.init();
    backend.fail(new BackendError('DEVICE_ERROR', 'late'));
    expectError(() => call(backend), 'DEVICE_ERROR', 'late');
    backend.lose('gone');
    expectError(() => call(backend), 'DEVICE_LOST', 'gone');
    await backend.dispose();
    expect(expectError(() => call(backend), 'DISPOSED').message).toBe('backend disposed');
  });

  it.each(ASYNC_CALLS)('%s', async (_name, call) => {
    const backend = new MemoryBackend();
    await expectRejection(call(backend), 'NOT_INITIALIZED');
    await backend.init();
    backend.fail(new BackendError('OUT_OF_MEMORY', 'late'));
    await expectRejection(call(backend), 'OUT_OF_MEMORY', 'late');
    backend.lose('gone');
    await expectRejection(call(backend), 'DEVICE_LOST', 'gone');
    await backend.dispose();
    await expectRejection(call(backend), 'DISPOSED');
  });

  it('free: silent after loss, failure and dispose', async () => {
    expectError(() => new MemoryBackend().free(NULL_PTR), 'NOT_INITIALIZED');
    const lost = await MemoryBackend.open();
    lost.lose('gone');
    lost.free(NULL_PTR);
    lost.free('nonsense' as never);
    const disposed = await MemoryBackend.open();
    const ptr = disposed.alloc(4);
    await disposed.dispose();
    disposed.free(ptr);
    disposed.free(ptr);
    expect(disposed.hooks).toEqual(['alloc', 'dispose']);
  });

  it('memory: works after loss, not before init nor after dispose', async () => {
    const backend = new MemoryBackend();
    expectError(() => backend.memory(), 'NOT_INITIALIZED');
    await backend.init();
    backend.lose('gone');
    expect(backend.memory().liveAllocations).toBe(0);
    await backend.dispose();
    expectError(() => backend.memory(), 'DISPOSED');
  });
});

describe('init', () => {
  it('is idempotent, and concurrent calls share one attempt', async () => {
    const backend = new MemoryBackend();
    expect(backend.isInitialized).toBe(false);
    expectError(() => backend.device, 'NOT_INITIALIZED');
    expectError(() => backend.capabilities, 'NOT_INITIALIZED');
    await Promise.all([backend.init(), backend.init()]);
    await backend.init();
    expect(backend.hooks).toEqual(['init']);
    expect(backend.isInitialized).toBe(true);
    expect(backend.device.name).toBe('memory');
  });

  it('freezes capabilities and device, deeply', async () => {
    const { capabilities, device } = await MemoryBackend.open();
    for (const value of [capabilities, capabilities.ops, capabilities.dtypes, capabilities.dtypes.gemm, device]) {
      expect(Object.isFrozen(value)).toBe(true);
    }
    expect(Object.isFrozen(capabilities.limits)).toBe(true);
    // The arrays that `doInit` returned stay its own.
    expect(Object.isFrozen(OP_NAMES)).toBe(false);
  });

  it('rejects with a BackendError and can be repeated', async () => {
    const backend = new MemoryBackend();
    const cause = new Error('no such file');
    backend.failing.set('init', cause);
    const error = await expectRejection(backend.init(), 'BACKEND_UNAVAILABLE', 'no such file');
    expect(error).toMatchObject({ reason: 'failed', backend: 'memory', cause });
    expect(backend.isInitialized).toBe(false);
    const own = new BackendError('BACKEND_UNAVAILABLE', 'x', { reason: 'no-device' });
    backend.failing.set('init', own);
    await expect(backend.init()).rejects.toBe(own);
    await backend.init();
    expect(backend.isInitialized).toBe(true);
  });

  it('is one with the constructor in create', async () => {
    const backend = await MemoryBackend.create({ memoryLimitBytes: 100 });
    expect(backend.isInitialized).toBe(true);
    expect(backend.memory().limitBytes).toBe(100);
    await backend.dispose();
  });

  it('of create leaves nothing open when it fails', async () => {
    const made: MemoryBackend[] = [];
    class Failing extends MemoryBackend {
      constructor() {
        super();
        made.push(this);
        this.failing.set('init', new Error('no driver'));
      }
    }
    await expectRejection(Failing.create(), 'BACKEND_UNAVAILABLE', 'no driver');
    expect(await made[0]?.lost).toMatchObject({ reason: 'disposed' });
  });

  it('after dispose or loss rejects', async () => {
    const disposed = new MemoryBackend();
    await disposed.dispose();
    await expectRejection(disposed.init(), 'DISPOSED');
    const lost = await MemoryBackend.open();
    lost.lose('gone');
    await expectRejection(lost.init(), 'DEVICE_LOST', 'gone');
  });

  it('rejects when the device is lost meanwhile', async () => {
    const backend = new MemoryBackend();
    backend.opening = gate();
    const opening = backend.init();
    backend.lose('gone');
    backend.opening.open();
    await expectRejection(opening, 'DEVICE_LOST', 'gone');
  });

  it('disposed meanwhile: rejects, and releases the device that it opened', async () => {
    const backend = new MemoryBackend();
    backend.opening = gate();
    const opening = backend.init();
    const disposed = backend.dispose();
    backend.opening.open();
    await expectRejection(opening, 'DISPOSED');
    await disposed;
    expect(backend.hooks).toEqual(['init', 'dispose']);
    expect(backend.isInitialized).toBe(false);
  });

  it('is told of a dispose, with the error to reject with', async () => {
    let seen: AbortSignal | undefined;
    class Slow extends MemoryBackend {
      protected override doInit(signal?: AbortSignal): Promise<InitResult> {
        seen = signal;
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      }
    }
    const backend = new Slow();
    const opening = backend.init();
    expect(seen?.aborted).toBe(false);
    await backend.dispose();
    await expectRejection(opening, 'DISPOSED');
  });

  it('failing after dispose began: nothing to release', async () => {
    const backend = new MemoryBackend();
    backend.opening = gate();
    const opening = backend.init();
    const disposed = backend.dispose();
    backend.opening.fail(new Error('no'));
    await expectRejection(opening, 'BACKEND_UNAVAILABLE', 'no');
    await disposed;
    expect(backend.hooks).toEqual(['init']);
  });
});

describe('dispose', () => {
  it('is idempotent', async () => {
    const backend = await MemoryBackend.open();
    const first = backend.dispose();
    expect(backend.isInitialized).toBe(false);
    expect(backend.dispose()).toBe(first);
    await first;
    await backend.dispose();
    expect(backend.hooks).toEqual(['dispose']);
  });

  it('of an object never initialized does nothing, and everything is DISPOSED after it', async () => {
    const backend = new MemoryBackend();
    await backend.dispose();
    expect(backend.hooks).toEqual([]);
    expectError(() => backend.device, 'DISPOSED');
    expectError(() => backend.capabilities, 'DISPOSED');
    expectError(() => backend.memory(), 'DISPOSED');
    expectError(() => backend.alloc(4), 'DISPOSED');
  });

  it.each(['opening', 'closing'] as const)('waits at most 5 s for a device that hangs while %s', async (phase) => {
    vi.useFakeTimers();
    const backend = new MemoryBackend();
    const hang = gate();
    backend[phase] = hang;
    const initialized = backend.init().catch((error: unknown) => error);
    if (phase === 'closing') await initialized;
    const done = vi.fn();
    const disposed = backend.dispose().then(done);
    await vi.advanceTimersByTimeAsync(4_999);
    expect(done).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(done).toHaveBeenCalledOnce();
    await disposed;
    expect(await backend.lost).toMatchObject({ reason: 'disposed' });
    // A device that opens too late is released all the same.
    hang.open();
    await initialized;
    await vi.advanceTimersByTimeAsync(0);
    expect(backend.hooks).toEqual(['init', 'dispose']);
  });

  it('leaves no timer behind', async () => {
    vi.useFakeTimers();
    const backend = await MemoryBackend.open();
    await backend.dispose();
    expect(vi.getTimerCount()).toBe(0);
  });

  it('reports what the device says, and is disposed nevertheless', async () => {
    const backend = await MemoryBackend.open();
    backend.failing.set('dispose', new Error('busy'));
    const error = await expectRejection(backend.dispose(), 'DEVICE_ERROR', 'busy');
    expect(error).toMatchObject({ op: 'dispose', backend: 'memory' });
    expectError(() => backend.alloc(4), 'DISPOSED');
    expect(await backend.lost).toMatchObject({ reason: 'disposed' });
  });

  it('is what `await using` calls', async () => {
    const backend = await MemoryBackend.open();
    expect(typeof backend[Symbol.asyncDispose]).toBe('function');
    await backend[Symbol.asyncDispose]();
    expectError(() => backend.flush(), 'DISPOSED');
  });
});

describe('lost', () => {
  it('resolves with "disposed"', async () => {
    const backend = new MemoryBackend();
    const { lost } = backend;
    await backend.dispose();
    expect(await lost).toEqual({ reason: 'disposed', message: 'backend disposed' });
  });

  it('resolves with the loss, the first one, also after a later dispose', async () => {
    const backend = await MemoryBackend.open();
    backend.lose('unplugged');
    backend.lose('again');
    await backend.dispose();
    expect(await backend.lost).toEqual({ reason: 'device-lost', message: 'unplugged' });
    expect(backend.hooks).toEqual(['dispose']);
  });

  it('a loss or failure after dispose is not news', async () => {
    const backend = await MemoryBackend.open();
    const disposed = backend.dispose();
    backend.lose('too late');
    backend.fail(new BackendError('DEVICE_ERROR', 'too late'));
    await disposed;
    expect(await backend.lost).toMatchObject({ reason: 'disposed' });
    expectError(() => backend.flush(), 'DISPOSED');
  });

  it('a new object works after a loss', async () => {
    (await MemoryBackend.open()).lose('gone');
    const next = await MemoryBackend.open();
    next.free(next.alloc(4));
  });
});
