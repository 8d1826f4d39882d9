import { describe, expect, it } from 'vitest';
import { expectInvalid, expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import type { DevicePtr } from '../index.ts';

const N = 4;
const BYTES = 4 * N;

async function opened() {
  const backend = await MemoryBackend.open();
  const [a, b, out] = [backend.alloc(BYTES), backend.alloc(BYTES), backend.alloc(BYTES)];
  const add = (x: DevicePtr, y: DevicePtr, output: DevicePtr) =>
    backend.binary({ op: 'add', n: N, a: x, b: y, output });
  /** Hooks since the last time. */
  const hooks = () => backend.hooks.splice(0);
  hooks();
  return { backend, a, b, out, add, hooks };
}

describe('record', () => {
  it('runs the work, and replays its kernels, copies and fills in their order', async () => {
    const { backend, a, b, out, add, hooks } = await opened();
    const given = Float32Array.of(1, 2, 3, 4);
    const recording = backend.record(() => {
      backend.fill(a, 0, BYTES);
      backend.copyHtod(b, given);
      add(a, b, out);
      backend.gemm({ m: 2, n: 2, k: 2, a, b, c: out });
      backend.copyDtod(a, out, BYTES);
    });
    const queued = ['fill', 'copyHtod', 'run', 'gemm', 'copyDtod'];
    expect(hooks()).toEqual(queued);
    given.fill(7);
    backend.fill(b, 0, BYTES);
    recording.replay();
    recording.replay();
    expect(hooks()).toEqual(['fill', ...queued, ...queued]);
    const bytes = new Float32Array(N);
    await backend.copyDtoh(bytes, b);
    expect([...bytes]).toEqual([1, 2, 3, 4]);
  });

  it('keeps memory that is freed in it from everybody, and gives it back at the end', async () => {
    const { backend, a, out, add, hooks } = await opened();
    const recording = backend.record(() => {
      for (let turn = 0; turn < 3; turn++) {
        const [larger, own] = [backend.alloc(2 * BYTES), backend.alloc(BYTES)];
        add(a, a, own);
        add(own, own, out);
        backend.free(own);
        backend.free(larger);
      }
    });
    // Later ones of its size take it.
    expect(hooks().filter((hook) => hook === 'alloc' || hook === 'free')).toEqual(['alloc', 'alloc']);
    expect(backend.memory()).toMatchObject({ inUseBytes: 3 * BYTES, pooledBytes: 3 * BYTES, liveAllocations: 3 });
    const outside = backend.alloc(BYTES);
    expect(hooks()).toEqual(['alloc']);
    backend.free(outside);
    expect(hooks()).toEqual(['free']);
    recording.dispose();
    recording.dispose();
    expect(hooks()).toEqual(['free', 'free']);
    expect(backend.memory().pooledBytes).toBe(0);
    const error = expectInvalid(() => recording.replay(), 'the recording was disposed');
    expect(error).toMatchObject({ backend: 'memory', op: 'replay' });
  });

  it('leaves memory that lives on to the caller, and says which of what it uses was freed', async () => {
    const { backend, a, out, add, hooks } = await opened();
    const weights = backend.alloc(BYTES, { label: 'weights' });
    let made: DevicePtr | undefined;
    const recording = backend.record(() => {
      made = backend.alloc(BYTES);
      add(weights, weights, made);
      add(a, a, out);
    });
    recording.replay();
    hooks();
    backend.free(weights);
    expect(hooks()).toEqual(['free']);
    expectInvalid(() => recording.replay(), 'the recording uses memory that was freed: the allocation "weights"');
    const other = backend.record(() => add(made as DevicePtr, a, out));
    backend.free(made as DevicePtr);
    expectInvalid(() => other.replay(), 'the recording uses memory that was freed: an allocation of 16 bytes');
    expect(hooks()).toEqual(['run', 'free']);
    // What it does not use may go.
    const last = backend.record(() => add(a, a, out));
    backend.free(backend.alloc(8));
    last.replay();
  });

  it.each<[string, (backend: MemoryBackend, ptr: DevicePtr, other: DevicePtr) => void]>([
    ['a source of copyDtod', (backend, ptr, other) => backend.copyDtod(other, ptr, BYTES)],
    ['a destination of copyDtod', (backend, ptr, other) => backend.copyDtod(ptr, other, BYTES)],
    ['a destination of copyHtod', (backend, ptr) => backend.copyHtod(ptr, new Uint8Array(BYTES))],
    ['a destination of fill', (backend, ptr) => backend.fill(ptr, 1, BYTES)],
    ['an operand', (backend, ptr, other) => backend.unary({ op: 'neg', n: N, input: ptr, output: other })],
    ['a result', (backend, ptr, other) => backend.unary({ op: 'neg', n: N, input: other, output: ptr })],
  ])('is not replayed where what was %s was freed', async (_, command) => {
    const { backend, a } = await opened();
    const ptr = backend.alloc(BYTES);
    const recording = backend.record(() => command(backend, ptr, a));
    recording.replay();
    backend.free(ptr);
    expectInvalid(() => recording.replay(), 'the recording uses memory that was freed: an allocation of 16 bytes');
  });

  it('refuses waits, recordings in recordings, and promises; afterwards all is as before', async () => {
    const { backend, a, b, out, add, hooks } = await opened();
    const waits: Promise<unknown>[] = [];
    const refused = (wait: Promise<void>) => waits.push(expectRejection(wait, 'INVALID_ARGUMENT'));
    const recording = backend.record(() => {
      refused(backend.synchronize());
      refused(backend.copyDtoh(new Uint8Array(4), a));
      refused(backend.prepare([]));
      expectInvalid(() => backend.record(() => undefined), 'record must not be called while something is recorded');
    });
    await Promise.all(waits);
    expectInvalid(
      () => backend.record(() => recording.replay()),
      'replay must not be called while something is recorded',
    );
    const late: () => unknown = async () => undefined;
    expectInvalid(
      () => backend.record(late),
      'record takes a function that returns at once, got one that returns a promise',
    );
    expectInvalid(() => backend.record(3 as never), 'record takes a function, got 3');
    hooks();
    const error = new Error('mine');
    const leaky = () =>
      backend.record(() => {
        backend.free(backend.alloc(8));
        throw error;
      });
    expect(leaky).toThrow(error);
    expect(hooks()).toEqual(['alloc', 'free']);
    add(a, b, out);
    await backend.synchronize();
    expect(backend.memory().pooledBytes).toBe(0);
  });

  it('gives the memory of recordings that were not disposed to the backend that is disposed', async () => {
    const { backend, a, out, add } = await opened();
    const recording = backend.record(() => {
      const own = backend.alloc(BYTES);
      add(a, own, out);
      backend.free(own);
    });
    const live = (backend as unknown as { liveBuffers(): Iterable<Uint8Array> }).liveBuffers();
    expect([...live]).toHaveLength(4);
    backend.closing = gate();
    const closed = backend.dispose();
    expect(() => recording.replay()).toThrow('backend disposed');
    recording.dispose();
    backend.closing.open();
    await closed;
    expect(backend.hooks.filter((hook) => hook === 'free')).toEqual([]);
  });
});
