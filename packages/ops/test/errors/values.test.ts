import { CpuBackend } from '@concord/backend-cpu';
import { inspect } from 'node:util';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { expectInvalid } from '../../../backend-core/test/expect-error.ts';
import { layerNorm, linear, memory, softmax, tensor, type Tensor, tidy, zeros } from '../../src/index.ts';

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
});

test.each<[string, () => unknown, RegExp]>([
  [
    'epsilon',
    () => layerNorm(x, { epsilon: 1 } as never),
    /layerNorm: options has no field epsilon; did you mean eps\?/,
  ],
  ['a letter too many', () => softmax(x, { axiss: 0 } as never), /did you mean axis\?/],
  [
    'a tensor as options',
    () => softmax(x, x as never),
    /softmax: takes its options in one object, .* got Tensor f32\[2\]/,
  ],
  ['a weight that is not there', () => linear(x, undefined as never), /linear: weight must be a tensor, got undefined/],
])('%s is refused by name', (_, call, message) => {
  expect(expectInvalid(call).message).toMatch(message);
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
