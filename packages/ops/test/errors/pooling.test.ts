import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  avgPool,
  globalAveragePool,
  maxPool,
  memory,
  resize,
  type Tensor,
  tensor,
  tidy,
  zeros,
} from '../../src/index.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const x = (...shape: number[]): Tensor => zeros(backend, shape);
const bytes = (): Tensor => tensor(backend, new Uint8Array(4), [1, 1, 2, 2]);

test.each<[string, () => unknown, RegExp]>([
  ['maxPool of signals', () => maxPool(x(1, 1, 4), 2), /maxPool: takes .*, got f32\[1, 1, 4\]/],
  ['maxPool of integers', () => maxPool(bytes(), 2), /got u8\[1, 1, 2, 2\]/],
  ['a window of 0', () => avgPool(x(1, 1, 4, 4), [2, 0]), /avgPool: the size of the window .* got \[2, 0\]/],
  ['a window larger than the image', () => maxPool(x(1, 1, 2, 4), 3), /window \[3, 3\] is larger .* \[1, 1, 2, 4\]/],
  ['padding as wide as the window', () => maxPool(x(1, 1, 4, 4), 2, { padding: [0, 2] }), /\[0, 2, 0, 2\] is as wide/],
  ['a mean of two axes', () => globalAveragePool(x(1, 2)), /takes \[n, c, ...size\], got \[1, 2\]/],
  ['resize to nothing', () => resize(x(1, 1, 2, 2), [0, 2]), /cannot make \[0, 2\] of \[1, 1, 2, 2\]/],
  ['resize of nothing', () => resize(x(1, 1, 0, 2), [1, 2]), /cannot make \[1, 2\] of \[1, 1, 0, 2\]/],
  ['resize of a matrix', () => resize(x(2, 2), [1, 2]), /resize: takes \[n, c, h, w\], got f32\[2, 2\]/],
  ['bilinear bytes', () => resize(bytes(), [1, 2], { mode: 'bilinear' }), /takes f32, f16 or bf16 .* got u8/],
  ['an unknown mode', () => resize(bytes(), [1, 2], { mode: 'cubic' as 'nearest' }), /got cubic/],
  ['corners of the nearest', () => resize(bytes(), [1, 2], { alignCorners: true }), /is for mode bilinear/],
  ['sizes beyond i32', () => resize(x(1, 1, 2, 1), [2 ** 29, 1]), /to \[536870912, 1\]: .* 2\^30/],
])('%s is refused, with the shapes', (_, call, message) => {
  const before = memory();
  expect(() => tidy(call)).toThrow(message);
  expect(memory()).toEqual(before);
});
