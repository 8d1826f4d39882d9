import { expect, it } from 'vitest';
import { checkProduct } from './check.ts';
import { median } from './product.ts';

const n = 8;
const left = Float32Array.from({ length: n * n }, (_, i) => i % 5);
const identity = Float32Array.from({ length: n * n }, (_, i) => (i % (n + 1) === 0 ? 1 : 0));

it('passes the right product', () => {
  expect(checkProduct(n, left, identity, left)).toMatchObject({ entries: 256, passed: true, error: 0 });
});

it.each([0.001, NaN, Infinity])('fails for a last entry that is off by %d', (off) => {
  const wrong = left.slice();
  wrong[n * n - 1] = (left[n * n - 1] as number) + off;
  expect(checkProduct(n, left, identity, wrong).passed).toBe(false);
});

it.each([
  [[3], 3],
  [[1, 100, 2], 2],
  [[1, 100, 2, 3], 2.5],
])('the median of %j is %d', (runs, expected) => {
  expect(median(runs)).toBe(expected);
});
