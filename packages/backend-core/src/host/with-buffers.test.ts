import { describe, expect, it } from 'vitest';
import { expectInvalid, expectRejection } from '../../test/expect-error.ts';
import { gate, MemoryBackend } from '../../test/memory-backend.ts';
import { type BufferScope, download, withBuffers } from '../index.ts';

describe('withBuffers', () => {
  it('gives back what the function returns, and frees newest first', async () => {
    const backend = await MemoryBackend.open();
    const sum = await withBuffers(backend, async (scope) => {
      const a = scope.upload([1, 2], { label: 'a' });
      const b = scope.upload(Float32Array.of(10, 20));
      const output = scope.alloc(8, { label: 'sum' });
      backend.binary({ op: 'add', a, b, output, n: 2 });
      expect(backend.memory().liveAllocations).toBe(3);
      return download(backend, output, 2);
    });
    expect(sum).toEqual(Float32Array.of(11, 22));
    expect(backend.memory()).toMatchObject({ inUseBytes: 0, liveAllocations: 0 });
    const calls = backend.hooks.map((hook, index) => ({ hook, call: backend.calls[index] }));
    const [a, b] = calls.filter(({ hook }) => hook === 'copyHtod').map(({ call }) => (call as [{ buffer: object }])[0]);
    const freed = calls.filter(({ hook }) => hook === 'free').map(({ call }) => call);
    expect(calls.filter(({ hook }) => hook === 'alloc').map(({ call }) => call)).toEqual([
      [8, 'a'],
      [8, undefined],
      [8, 'sum'],
    ]);
    expect(freed).toHaveLength(3);
    expect(freed[1]).toBe(b?.buffer);
    expect(freed[2]).toBe(a?.buffer);
  });

  it('takes a function that returns no promise', async () => {
    const backend = await MemoryBackend.open();
    expect(await withBuffers(backend, (scope) => scope.alloc(4) > 0)).toBe(true);
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('waits for the function before it frees', async () => {
    const backend = await MemoryBackend.open();
    const open = gate();
    const done = withBuffers(backend, async (scope) => {
      scope.alloc(4);
      await open.promise;
    });
    await Promise.resolve();
    expect(backend.memory().liveAllocations).toBe(1);
    open.open();
    await done;
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it.each([
    ['throws', () => throwIt()],
    ['rejects', () => Promise.reject(new Error('mine'))],
  ])('frees when the function %s, and that error stays', async (_, end) => {
    const backend = await MemoryBackend.open();
    const failed = withBuffers(backend, (scope) => {
      scope.alloc(4);
      scope.upload([1]);
      backend.failing.set('free', new Error('of free'));
      return end();
    });
    await expect(failed).rejects.toThrow(/^mine$/);
    expect(backend.hooks.filter((hook) => hook === 'free')).toHaveLength(2);
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('frees the first when the second cannot be allocated', async () => {
    const backend = await MemoryBackend.open();
    const tooMuch = withBuffers(backend, (scope) => {
      scope.alloc(4);
      scope.alloc(2 ** 30);
    });
    await expectRejection(tooMuch, 'OUT_OF_MEMORY');
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('frees the rest when one free fails, and says so when all else went well', async () => {
    const backend = await MemoryBackend.open();
    const freedByHand = withBuffers(backend, (scope) => {
      scope.alloc(4);
      backend.free(scope.alloc(4));
    });
    await expectRejection(freedByHand, 'INVALID_ARGUMENT');
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('hands the error of a lost device on', async () => {
    const backend = await MemoryBackend.open();
    const lost = withBuffers(backend, async (scope) => {
      const ptr = scope.alloc(4);
      backend.lose('unplugged');
      return download(backend, ptr, 1);
    });
    await expectRejection(lost, 'DEVICE_LOST', 'unplugged');
  });

  it('refuses a scope that has ended', async () => {
    const backend = await MemoryBackend.open();
    const kept: BufferScope[] = [];
    await withBuffers(backend, (scope) => kept.push(scope));
    await withBuffers(backend, (scope) => kept.push(scope) && throwIt()).catch(() => undefined);
    for (const scope of kept) {
      expectInvalid(() => scope.alloc(4), 'the scope of withBuffers has ended');
      expectInvalid(() => scope.upload([1]), 'the scope of withBuffers has ended');
    }
    expect(kept).toHaveLength(2);
    expect(backend.memory().liveAllocations).toBe(0);
  });

  it('says what it takes', async () => {
    const backend = await MemoryBackend.open();
    const noBackend = withBuffers({} as never, () => 1);
    await expectRejection(noBackend, 'INVALID_ARGUMENT', 'withBuffers takes a backend first, got Object');
    const noFunction = withBuffers(backend, 'work' as never);
    await expectRejection(noFunction, 'INVALID_ARGUMENT', 'withBuffers takes a function second, got "work"');
  });
});

function throwIt(): never {
  throw new Error('mine');
}
