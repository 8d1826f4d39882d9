import { CpuBackend } from '@concord/backend-cpu';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectError, expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { cast, concat, cumsum, memory, slice, sort, tensor, type Tensor, tidy, topK, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
let x: Tensor;
beforeAll(async () => {
  await backend.init();
  x = tensor(backend, [1, 2]);
});
afterAll(() => {
  x.dispose();
  return backend.dispose();
});

test.each<[string, (value: never) => unknown]>([
  ['x + 1', (value) => value + 1],
  ['x > 0', (value) => value > 0],
  ['-x', (value) => -value],
  ['a template', (value) => `${String(value)}`],
])('%s throws, with what to call instead', (_, work) => {
  const error = expectInvalid(() => work(x as never));
  expect(error.message).toContain('f32[2] on cpu');
  expect(error.hint).toMatch(/add\(x, 1\).*toArray\(\)/);
});

test('a tensor can still be shown', () => {
  expect(inspect(x)).toContain('Tensor');
  expect(x.toString()).toBe('Tensor f32[2] on cpu');
  expect(JSON.parse(JSON.stringify({ x }))).toEqual({
    x: { type: 'Tensor', dtype: 'f32', shape: [2], backend: 'cpu', isDisposed: false },
  });
});

test('tidy takes results that hold themselves, and that are deeper than the stack', () => {
  const before = memory();
  const cyclic = tidy(() => {
    zeros(backend, [1]);
    const result: { self?: unknown; kept: Tensor } = { kept: zeros(backend, [2]) };
    result.self = [result];
    return result;
  });
  expect(memory().tensors - before.tensors).toBe(1);
  cyclic.kept.dispose();
  let deep: unknown;
  const [kept] = tidy(() => {
    const own = zeros(backend, [2]);
    deep = own;
    for (let i = 0; i < 1e5; i++) deep = [deep];
    return [own, deep] as const;
  });
  expect(kept.isDisposed).toBe(false);
  kept.dispose();
  expect(memory()).toEqual(before);
});

test('concat into one of its parts reads them all first', async () => {
  const all = tensor(backend, [1, 2, 3, 4]);
  tidy(() => concat([slice(all, [[2, 4]]), slice(all, [[0, 2]])], { out: all }));
  expect([...(await all.toArray())]).toEqual([3, 4, 1, 2]);
  all.dispose();
});

test('zeros that cannot be filled give their memory back', () => {
  const before = memory();
  const failing = Object.create(backend, { fill: { value: () => expect.fail('lost') } }) as CpuBackend;
  expect(() => zeros(failing, [4])).toThrow();
  expect(memory()).toEqual(before);
});

/** A backend as others write them, before there were scans. */
class WithoutScans extends CpuBackend {
  constructor() {
    super();
    Object.assign(this.kernels, { run: { ...this.kernels.run, features: ['scatter'] } });
  }
}

test('sorts and scans on a backend that has none are UNSUPPORTED, with the shapes', async () => {
  const other = new WithoutScans();
  await other.init();
  tidy(() => {
    const own = tensor(other, [[1, 2]]);
    expect(expectError(() => cumsum(own), 'UNSUPPORTED').message).toContain('cumsum(f32[1, 2])');
    expect(expectError(() => sort(own), 'UNSUPPORTED').message).toContain('sort(f32[1, 2])');
    expect(expectError(() => topK(cast(own, 'i32'), 1), 'UNSUPPORTED').message).toContain('topK(i32[1, 2])');
  });
  await other.dispose();
});
