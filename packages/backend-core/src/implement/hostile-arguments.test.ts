import { describe, expect, it } from 'vitest';
import { expectError, expectInvalid, expectRejection } from '../../test/expect-error.ts';
import { MemoryBackend } from '../../test/memory-backend.ts';
import { defineKernel } from '../kernel/index.ts';

const never = (): never => {
  throw new RangeError('a trap');
};
const trap: object = new Proxy({}, { get: never, has: never, ownKeys: never, getPrototypeOf: never });

/** A property that gives each value in turn. */
function turning(name: string, ...values: unknown[]): object {
  return Object.defineProperty({}, name, { get: () => values.shift(), enumerable: true });
}

describe('options', () => {
  it('of alloc: the label is read once', async () => {
    const backend = await MemoryBackend.open();
    const ptr = backend.alloc(4, turning('label', 'once', Symbol('never')));
    expect(backend.calls[0]).toEqual([4, 'once']);
    backend.free(ptr);
    expectInvalid(() => backend.free(ptr), `unknown handle ${ptr} ("once"), already freed`);
  });

  it('that throw are mistakes of the caller', async () => {
    const backend = await MemoryBackend.open();
    expectInvalid(() => backend.alloc(4, trap), 'alloc cannot be read: a trap');
    await expectRejection(backend.synchronize(trap), 'INVALID_ARGUMENT', 'options cannot be read: a trap');
    await expectRejection(backend.prepare([], trap), 'INVALID_ARGUMENT', 'options cannot be read: a trap');
    await expectRejection(backend.prepare([trap as never]), 'INVALID_ARGUMENT', 'plans cannot be read: a trap');
    expect(backend.hooks).toEqual([]);
  });

  it('signals must be real', async () => {
    const backend = await MemoryBackend.open();
    const own = Object.defineProperty(new AbortController().signal, 'aborted', { get: never });
    const fakes = [{ aborted: false, addEventListener: () => 0, removeEventListener: () => 0 }, own, trap, 'signal'];
    for (const signal of [...fakes, Object.create(AbortSignal.prototype), AbortSignal.prototype]) {
      for (const wait of [backend.synchronize({ signal }), backend.prepare([], { signal })]) {
        const { detail } = await expectRejection(wait, 'INVALID_ARGUMENT');
        expect(detail).toMatch(/^signal must be an AbortSignal, got /);
      }
    }
  });

  it('plans are read once', async () => {
    const backend = await MemoryBackend.open();
    const plan = Object.assign(turning('op', 'unary', 'constructor'), { call: { op: 'neg', n: 3 } });
    await backend.prepare([plan as never]);
    const refused = backend.prepare([turning('op', 'constructor', 'unary') as never]);
    const names = 'gemm, batchedGemm, gemmF16, conv2dForward, attention, topK, run, reduce, unary, binary';
    await expectRejection(refused, 'INVALID_ARGUMENT', `plans[0].op must be one of ${names}, got "constructor"`);
  });
});

describe('views', () => {
  it('are what the language says, not what their own properties say', async () => {
    const backend = await MemoryBackend.open();
    const ptr = backend.alloc(8);
    backend.fill(ptr, 7, 8);
    const own = { buffer: { get: never }, byteOffset: { get: never }, byteLength: { value: 800 } };
    for (const make of [() => new Uint8Array([1, 2, 3, 4]), () => new DataView(new ArrayBuffer(4))]) {
      const view = Object.defineProperties(make(), own);
      backend.copyHtod(ptr, view);
      await backend.copyDtoh(view, ptr);
    }
    const host = new Uint8Array(8);
    await backend.copyDtoh(host, ptr);
    expect([...host]).toEqual([0, 0, 0, 0, 7, 7, 7, 7]);
    const relative = Object.create(Uint8Array.prototype) as Uint8Array;
    expectInvalid(() => backend.copyHtod(ptr, relative), 'src must be a typed array or DataView, got Uint8Array');
  });
});

describe('supports', () => {
  it('never throws for a bad shape, nor for what is no op', async () => {
    const backend = await MemoryBackend.open();
    expect(backend.supports('gemm', trap as never)).toEqual({ ok: false, reason: 'the shape cannot be read: a trap' });
    for (const [op, shown] of [
      [Symbol('s'), 'Symbol(s)'],
      [Object.create(null), 'an object'],
      ['constructor', 'constructor'],
    ]) {
      expect(backend.supports(op as never)).toEqual({
        ok: false,
        reason: `memory does not implement ${String(shown)}`,
      });
    }
  });
});

describe('kernels of elsewhere', () => {
  const kernel = defineKernel('twice', { inputs: { x: 'f32' } }, ({ x }, k) => ({ y: k.add(x, x) }));

  it('are read once', async () => {
    const backend = await MemoryBackend.open();
    const [x, y] = [backend.alloc(4), backend.alloc(4)];
    const copy = JSON.parse(JSON.stringify(kernel)) as Record<string, unknown>;
    const reads: string[] = [];
    const noting = new Proxy(copy, { get: (target, key) => (reads.push(String(key)), Reflect.get(target, key)) });
    backend.run(noting as never, { shape: [1], inputs: { x }, outputs: { y } });
    expect(backend.hooks).toContain('run');
    expect(reads).toEqual([...new Set(reads)]);
  });

  it('cannot name a type of a constant that objects have anyway', async () => {
    const backend = await MemoryBackend.open();
    const copy = JSON.parse(
      JSON.stringify(defineKernel('one', {}, (_, k) => ({ y: k.add(k.f32(1), k.toF32(k.index(0))) }))),
    );
    const constant = (copy.nodes as { kind: string }[]).find(({ kind }) => kind === 'constant');
    Object.assign(constant as object, { type: 'constructor' });
    const error = expectError(() => backend.run(copy as never, { shape: [1] } as never), 'INVALID_ARGUMENT');
    expect(error.detail).toContain('a constant must be f32, i32, u32 or bool, got "constructor"');
  });

  it('that throw or end nowhere are mistakes of the caller', async () => {
    const backend = await MemoryBackend.open();
    const round: Record<string, unknown> = {};
    round['nodes'] = [round];
    for (const value of [trap, round, { nodes: 5n }, { toJSON: never }, Symbol('s'), undefined]) {
      expectError(() => backend.run(value as never, { shape: [1] } as never), 'INVALID_ARGUMENT');
    }
  });
});

describe('lists', () => {
  it('longer than any are refused at once', async () => {
    const backend = await MemoryBackend.open();
    const ptr = backend.alloc(4);
    const endless = new Proxy([], { get: (_, key) => (key === 'length' ? 2 ** 40 : 1) });
    const reduce = (shape: unknown): void =>
      backend.reduce({ op: 'sum', shape, axis: 0, input: ptr, output: ptr } as never);
    expectInvalid(() => reduce(endless), `shape must have at most 1024 elements, got ${2 ** 40}`);
    const never = new Proxy([], { get: () => Number.NaN });
    expectInvalid(() => reduce(never), 'the length of shape must be a non-negative safe integer, got NaN');
  });
});
