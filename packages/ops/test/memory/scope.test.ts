import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeEach, expect, test } from 'vitest';
import { expectInvalid, expectRejection } from '../../../backend-core/test/expect-error.ts';
import { add, memory, reshape, slice, split, tensor, type Tensor, tidy, wrap, zeros } from '../../src/index.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());
beforeEach(() => expectNothing());

const DISPOSED = 'tensor: f32[2] was disposed';

/** Neither the program nor the backend holds anything. */
function expectNothing(): void {
  expect(memory()).toMatchObject({ tensors: 0, bytes: 0 });
  expect(backend.memory()).toMatchObject({ liveAllocations: 0, inUseBytes: 0 });
}

test('using disposes at the end of its block, also across await and when the block throws', async () => {
  {
    using x = tensor(backend, [1, 2]);
    await Promise.resolve();
    expect(memory()).toMatchObject({ tensors: 1, bytes: 8 });
    expect(Array.from(await x.toArray())).toEqual([1, 2]);
  }
  expectNothing();
  const failing = async (): Promise<void> => {
    using _x = zeros(backend, [4]);
    await Promise.resolve();
    throw new Error('in the block');
  };
  await expect(failing()).rejects.toThrow('in the block');
  expectNothing();
});

test('views share storage, which the last of them frees, whichever it is', async () => {
  const x = tensor(backend, [1, 2, 3, 4]);
  const [first, second] = split(x, 2) as [Tensor, Tensor];
  expect(memory()).toMatchObject({ tensors: 3, bytes: 16 });
  x.dispose();
  first.dispose();
  expect(backend.memory().liveAllocations).toBe(1);
  expect(Array.from(await second.toArray())).toEqual([3, 4]);
  second.dispose();
  expectNothing();
});

test('disposed twice is disposed once: the other views live on', async () => {
  const x = tensor(backend, [1, 2]);
  using view = reshape(x, [2, 1]);
  x.dispose();
  x.dispose();
  x[Symbol.dispose]();
  expect(x.isDisposed).toBe(true);
  expect(memory()).toMatchObject({ tensors: 1, bytes: 8 });
  expect(Array.from(await view.toArray())).toEqual([1, 2]);
});

test('every use after dispose says so', async () => {
  const x = tensor(backend, [1, 2]);
  x.dispose();
  using y = zeros(backend, [2]);
  const uses = [
    () => x.ptr,
    () => add(x, 1),
    () => slice(x, [0]),
    () => add(y, 1, { out: x }),
    () => add(y, x, { out: y }),
    () => tidy(() => add(x, y)),
  ];
  for (const use of uses) expect(expectInvalid(use).detail).toContain(DISPOSED);
  await expectRejection(x.toArray(), 'INVALID_ARGUMENT', DISPOSED);
  expect(memory()).toMatchObject({ tensors: 1, bytes: 8 });
});

test('tidy keeps what it returns: a tensor, arrays and records of them, however deep', () => {
  const one = tidy(() => add(add(zeros(backend, [2]), 1), 2));
  expect(memory().tensors).toBe(1);
  const many = tidy(() => {
    const [x, y, z] = [zeros(backend, [2]), zeros(backend, [3]), zeros(backend, [4])];
    add(x, 1);
    return { list: [x, [y]], record: { z }, count: 3, nothing: null };
  });
  expect(memory().tensors).toBe(4);
  for (const each of [one, many.list[0], (many.list[1] as Tensor[])[0], many.record.z]) (each as Tensor).dispose();
  expectNothing();
  expect(tidy(() => zeros(backend, [2]).size)).toBe(2);
  expectNothing();
});

test('tidy finds what it returns in instances of classes, Maps, Sets and objects without a prototype', () => {
  class Layer {
    readonly weight: Tensor = zeros(backend, [2]);
    readonly bytes: Uint8Array = new Uint8Array(1e6);
  }
  class Hidden {
    readonly #weight: Tensor = zeros(backend, [2]);
    get weight(): Tensor {
      return this.#weight;
    }
  }
  const [layer, map, set, bare, hidden] = tidy(() => {
    const [key, value, member] = [zeros(backend, [2]), zeros(backend, [2]), zeros(backend, [2])];
    const record = Object.assign(Object.create(null) as { z?: Tensor }, { z: add(value, 1) });
    return [new Layer(), new Map([[key, { value }]]), new Set([member]), record, new Hidden()] as const;
  });
  expect(memory().tensors).toBe(5);
  const [[key, { value }]] = map as unknown as [[Tensor, { value: Tensor }]];
  for (const each of [layer.weight, key, value, ...set, bare.z]) each?.dispose();
  expect(expectInvalid(() => hidden.weight.ptr).hint).toContain('private fields');
  expectNothing();
});

test('what an inner tidy returns belongs to the outer one', () => {
  const result = tidy(() => {
    const inner = tidy(() => {
      zeros(backend, [8]);
      return zeros(backend, [2]);
    });
    expect(memory().tensors).toBe(1);
    return add(inner, 1);
  });
  expect(memory()).toMatchObject({ tensors: 1, bytes: 8 });
  result.dispose();
  expectNothing();
});

test('a view that is returned keeps its storage; a tensor of the outside stays', () => {
  using outside = zeros(backend, [2]);
  const view = tidy(() => slice(add(outside, zeros(backend, [6, 2])), [0]));
  expect(memory()).toMatchObject({ tensors: 2, bytes: 8 + 48 });
  expect(outside.isDisposed).toBe(false);
  view.dispose();
});

test('a tensor that was disposed in a tidy may be returned; it stays disposed', () => {
  const x = tidy(() => {
    const own = zeros(backend, [2]);
    own.dispose();
    return own;
  });
  expect(x.isDisposed).toBe(true);
  expectNothing();
});

test('tidy that throws disposes all, also what an inner one has returned', () => {
  expect(() =>
    tidy(() => {
      const kept = tidy(() => zeros(backend, [2]));
      add(kept, 1);
      throw new Error('in tidy');
    }),
  ).toThrow('in tidy');
  expectNothing();
  // And the scope is gone: what comes after it has no owner.
  using x = zeros(backend, [2]);
  expect(x.isDisposed).toBe(false);
});

test('tidy disposes all when what is returned cannot be read', () => {
  const result = (): unknown => [
    zeros(backend, [2]),
    {
      get broken(): never {
        throw new Error('in a getter');
      },
    },
  ];
  expect(() => tidy(result)).toThrow('in a getter');
  expectNothing();
});

test('tidy refuses a function that returns a promise, and disposes what it made', () => {
  expectInvalid(
    () =>
      tidy(async () => {
        const x = zeros(backend, [2]);
        await Promise.resolve();
        // By now it is disposed: the rejection of this promise has no owner, and is not unhandled.
        return add(x, 1);
      }),
    'tidy: takes a function that returns at once, got one that returns a promise',
  );
  expectNothing();
});

test('memory that the caller allocated is not freed, nor counted', () => {
  const ptr = backend.alloc(8);
  const x = wrap(backend, ptr, [2]);
  expect(memory()).toMatchObject({ tensors: 1, bytes: 0 });
  x.dispose();
  backend.free(ptr);
});

test('a tensor may be disposed after its backend', async () => {
  const own = await CpuBackend.create();
  const x = zeros(own, [2]);
  await own.dispose();
  x.dispose();
  expectNothing();
});
