import { afterEach, describe, expect, it, vi } from 'vitest';
import { expectInvalid, expectError, expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import { BackendError, type WaitOptions } from '../index.ts';

afterEach(() => {
  vi.useRealTimers();
});

/** A backend whose waits hang until `pending` is opened. */
async function hanging() {
  const backend = await MemoryBackend.open({ passing: 'one kernel' });
  const ptr = backend.alloc(4);
  backend.fill(ptr, 9, 4);
  const pending = gate();
  backend.pending = pending;
  return { backend, ptr, pending };
}

/** Lets everything that is ready happen. */
const settle = () => new Promise((resolve) => setTimeout(resolve));

type Hanging = Awaited<ReturnType<typeof hanging>>;
const WAITS: Array<[string, (h: Hanging, host: Uint8Array, options?: WaitOptions) => Promise<void>]> = [
  ['synchronize', ({ backend }, _host, options) => backend.synchronize(options)],
  ['copyDtoh', ({ backend, ptr }, host, options) => backend.copyDtoh(host, ptr, options)],
];

describe.each(WAITS)('%s', (op, start) => {
  it('resolves when the work is done', async () => {
    const h = await hanging();
    const host = new Uint8Array(4);
    let done = false;
    const wait = start(h, host).then(() => (done = true));
    await settle();
    expect(done).toBe(false);
    h.pending.open();
    await wait;
    expect([...host]).toEqual(op === 'copyDtoh' ? [9, 9, 9, 9] : [0, 0, 0, 0]);
  });

  it('a timeout ends the wait, not the work, and is not sticky', async () => {
    const h = await hanging();
    const host = new Uint8Array(4);
    const error = await expectRejection(
      start(h, host, { timeoutMs: 5 }),
      'DEVICE_ERROR',
      `${op} did not finish within 5 ms`,
    );
    expect(error).toMatchObject({ op, backend: 'memory', hint: expect.stringContaining('wait again') });
    const again = start(h, host, { timeoutMs: 10_000 });
    h.pending.open();
    await again;
  });

  it('waits 60 s by default, and for ever if asked to', async () => {
    const h = await hanging();
    vi.useFakeTimers();
    const failed = vi.fn();
    start(h, new Uint8Array(4)).catch(failed);
    const patient = start(h, new Uint8Array(4), { timeoutMs: Infinity });
    await vi.advanceTimersByTimeAsync(59_999);
    expect(failed).not.toHaveBeenCalled();
    await vi.advanceTimersByTimeAsync(1);
    expect(failed.mock.calls[0]?.[0]).toMatchObject({ detail: `${op} did not finish within 60000 ms` });
    await vi.advanceTimersByTimeAsync(2 ** 32);
    h.pending.open();
    await patient;
    expect(vi.getTimerCount()).toBe(0);
  });

  it('that fails at once leaves no timer and no listener behind', async () => {
    const h = await hanging();
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const listens = vi.spyOn(signal, 'addEventListener');
    let wait: Promise<void> | undefined;
    h.backend.record(() => {
      wait = start(h, new Uint8Array(4), { signal });
      wait.catch(() => undefined);
    });
    await expectRejection(wait as unknown as Promise<void>, 'INVALID_ARGUMENT', `${op} cannot be recorded`);
    expect(vi.getTimerCount()).toBe(0);
    expect(listens).not.toHaveBeenCalled();
  });

  it('an abort rejects with the signal reason', async () => {
    const h = await hanging();
    const controller = new AbortController();
    const wait = start(h, new Uint8Array(4), { signal: controller.signal });
    const reason = { why: 'the user left' };
    controller.abort(reason);
    await expect(wait).rejects.toBe(reason);
    const late = start(h, new Uint8Array(4), { signal: controller.signal });
    await expect(late).rejects.toBe(reason);
  });

  it('an aborted signal starts nothing', async () => {
    const h = await hanging();
    h.backend.hooks.length = 0;
    await expect(start(h, new Uint8Array(4), { signal: AbortSignal.abort() })).rejects.toThrow(/abort/i);
    expect(h.backend.hooks).toEqual([]);
  });

  it('ends when the device is lost', async () => {
    const h = await hanging();
    const wait = start(h, new Uint8Array(4));
    h.backend.lose('unplugged');
    await expectRejection(wait, 'DEVICE_LOST', 'unplugged');
    await expectRejection(start(h, new Uint8Array(4)), 'DEVICE_LOST', 'unplugged');
  });

  it('ends with a sticky failure', async () => {
    const h = await hanging();
    const wait = start(h, new Uint8Array(4));
    const failure = new BackendError('OUT_OF_MEMORY', 'late', { op: 'gemm,unary' });
    h.backend.fail(failure);
    await expect(wait).rejects.toBe(failure);
    await expect(start(h, new Uint8Array(4))).rejects.toBe(failure);
    expect(failure).toMatchObject({ op: 'gemm,unary', backend: 'memory' });
  });

  it('ends with dispose', async () => {
    const h = await hanging();
    const wait = start(h, new Uint8Array(4));
    const disposed = h.backend.dispose();
    await expectRejection(wait, 'DISPOSED');
    await disposed;
    await expectRejection(start(h, new Uint8Array(4)), 'DISPOSED');
  });

  it('reports what the hook rejects with, from then on', async () => {
    const h = await hanging();
    const wait = start(h, new Uint8Array(4));
    h.pending.fail(new Error('status 5'));
    expect(await expectRejection(wait, 'DEVICE_ERROR', 'status 5')).toMatchObject({ op, backend: 'memory' });
    h.backend.pending = undefined;
    await expectRejection(start(h, new Uint8Array(4)), 'DEVICE_ERROR', 'status 5');
    expect(() => h.backend.flush()).toThrow('status 5');
  });

  it('reports once what the backend says is not sticky', async () => {
    const h = await hanging();
    const wait = start(h, new Uint8Array(4));
    h.pending.fail(new BackendError('DEVICE_ERROR', 'one kernel'));
    expect(await expectRejection(wait, 'DEVICE_ERROR', 'one kernel')).toMatchObject({ op, backend: 'memory' });
    h.backend.pending = undefined;
    await start(h, new Uint8Array(4));
    h.backend.flush();
  });

  it('rejects, and does not throw, before init', async () => {
    const backend = new MemoryBackend();
    const h = { backend, ptr: 0, pending: gate() } as unknown as Hanging;
    await expectRejection(start(h, new Uint8Array(4)), 'NOT_INITIALIZED');
  });

  it.each([
    [{ timeoutMs: -1 }, 'timeoutMs must be a number >= 0, got -1'],
    [{ timeoutMs: Number.NaN }, 'timeoutMs must be a number >= 0, got NaN'],
    [{ timeoutMs: '5' }, 'timeoutMs must be a number >= 0, got "5"'],
    [{ signal: {} }, 'signal must be an AbortSignal, got Object'],
    [{ signal: null }, 'signal must be an AbortSignal, got null'],
    [{ signal: new EventTarget() }, 'signal must be an AbortSignal, got EventTarget'],
    [{ timeoutMS: 1 }, 'options has no field timeoutMS; did you mean timeoutMs?'],
    [null, 'options must be an object, got null'],
    [5, 'options must be an object, got 5'],
  ])('options %j', async (options, detail) => {
    const h = await hanging();
    await expectRejection(start(h, new Uint8Array(4), options as never), 'INVALID_ARGUMENT', detail);
  });

  it('leaves neither timer nor listener behind', async () => {
    const h = await hanging();
    h.pending.open();
    vi.useFakeTimers();
    const { signal } = new AbortController();
    const remove = vi.spyOn(signal, 'removeEventListener');
    await start(h, new Uint8Array(4), { signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(remove).toHaveBeenCalledOnce();
  });
});

describe('copyDtoh: the destination', () => {
  it('is not written any more after a timeout', async () => {
    const h = await hanging();
    const host = new Uint8Array(4);
    await expectRejection(h.backend.copyDtoh(host, h.ptr, { timeoutMs: 1 }), 'DEVICE_ERROR');
    h.pending.open();
    await settle();
    expect([...host]).toEqual([0, 0, 0, 0]);
  });

  it('is not written any more after an abort', async () => {
    const h = await hanging();
    const host = new Uint8Array(4);
    const controller = new AbortController();
    const wait = h.backend.copyDtoh(host, h.ptr, { signal: controller.signal });
    controller.abort();
    await expect(wait).rejects.toThrow();
    h.pending.open();
    await settle();
    expect([...host]).toEqual([0, 0, 0, 0]);
  });

  it('may be detached during the wait', async () => {
    const h = await hanging();
    const host = new Uint8Array(4);
    const wait = h.backend.copyDtoh(host, h.ptr);
    structuredClone(host.buffer, { transfer: [host.buffer] });
    h.pending.open();
    const error = await expectRejection(wait, 'INVALID_ARGUMENT', 'dst is detached or out of bounds of its buffer');
    expect(error.op).toBe('copyDtoh');
  });

  it('may shrink during the wait', async () => {
    const h = await hanging();
    const Resizable = ArrayBuffer as unknown as new (
      n: number,
      options: object,
    ) => ArrayBuffer & { resize(n: number): void };
    const buffer = new Resizable(4, { maxByteLength: 4 });
    const host = new Uint8Array(buffer);
    const wait = h.backend.copyDtoh(host, h.ptr);
    buffer.resize(2);
    h.pending.open();
    await expectRejection(wait, 'INVALID_ARGUMENT', 'dst is detached or out of bounds of its buffer');
    expect([...host]).toEqual([0, 0]);
  });
});

describe('after a failure', () => {
  it('ops throw the sticky error, free is silent, counters work', async () => {
    const h = await hanging();
    const failure = new BackendError('DEVICE_ERROR', 'late');
    h.backend.fail(failure);
    expect(() => h.backend.fill(h.ptr, 0, 4)).toThrow(failure);
    expect(() => h.backend.flush()).toThrow(failure);
    expect(() => h.backend.supports('gemm')).toThrow(failure);
    h.backend.free(h.ptr);
    expect(h.backend.hooks).not.toContain('free');
    expect(h.backend.memory().liveAllocations).toBe(1);
    // The first failure counts, and dispose ends it.
    h.backend.fail(new BackendError('DEVICE_ERROR', 'later'));
    expect(() => h.backend.flush()).toThrow(failure);
    await h.backend.dispose();
    expectError(() => h.backend.flush(), 'DISPOSED');
  });

  it('an argument error is not sticky', async () => {
    const h = await hanging();
    expectInvalid(() => h.backend.fill(h.ptr, 0, 400));
    h.backend.fill(h.ptr, 0, 4);
  });
});
