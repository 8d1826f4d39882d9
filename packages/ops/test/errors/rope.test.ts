import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memory, rope, type Tensor, tensor, tidy, zeros } from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const x = (...shape: number[]): Tensor => zeros(backend, shape);
const positions = (...values: number[]): Tensor => tensor(backend, Int32Array.from(values));

test.each<[string, () => unknown, RegExp]>([
  ['an odd dim', () => rope(x(2, 3)), /even dim, got f32\[2, 3\]/],
  ['one axis', () => rope(x(4)), /even dim, got f32\[4\]/],
  ['integers', () => rope(zeros(backend, [2, 2], { dtype: 'i32' })), /got i32\[2, 2\]/],
  ['positions of another length', () => rope(x(2, 4), { positions: positions(1, 2, 3) }), /to \[2\], got i32\[3\]/],
  ['positions of the elements', () => rope(x(1, 4), { positions: positions(1, 2, 3, 4) }), /to \[1\], got i32\[4\]/],
  ['positions that are no integers', () => rope(x(2, 4), { positions: x(2) }), /to \[2\], got f32\[2\]/],
  ['frequencies of another length', () => rope(x(2, 4), { frequencies: x(4) }), /must be f32\[2\], got f32\[4\]/],
  ['an offset between', () => rope(x(2, 4), { offset: 0.5 }), /offset must be an integer, got 0.5/],
  [
    'several offsets',
    () => rope(x(2, 4), { offset: positions(1, 2) }),
    /offset must be one integer, got Tensor i32\[2\]/,
  ],
  ['no base', () => rope(x(2, 4), { base: 0 }), /base must be a positive number, got 0/],
])('%s is refused, with the shapes', (_, call, message) => {
  const before = memory();
  expect(() => tidy(call)).toThrow(message);
  expect(memory()).toEqual(before);
});
