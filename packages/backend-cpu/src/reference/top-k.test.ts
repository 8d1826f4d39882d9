import { expect, it } from 'vitest';
import { topKReference } from './top-k.ts';

const select = (k: number, values: readonly number[], largest?: boolean, rows = 1): number[] => [
  ...topKReference({ rows, columns: values.length / rows, k, ...(largest === undefined ? {} : { largest }) }, values),
];

it('the greatest of each row, the best first', () => {
  expect(select(3, [2, 7, 1, 8, 2, 8])).toEqual([3, 5, 1]);
  expect(select(1, [1, 2, 3, 6, 5, 4], true, 2)).toEqual([2, 0]);
  expect(select(2, [1, 2, 3, 6, 5, 4], true, 2)).toEqual([2, 1, 0, 1]);
});

it('the least', () => {
  expect(select(4, [2, 7, 1, 8, 2, 8], false)).toEqual([2, 0, 4, 1]);
});

it('of equals, zeros of both signs too, the lower index', () => {
  expect(select(3, [0, -0, 0, -1])).toEqual([0, 1, 2]);
  expect(select(3, [-0, 1, 0, -0], false)).toEqual([0, 2, 3]);
});

it('NaN is above Infinity', () => {
  expect(select(4, [Infinity, Number.NaN, -Infinity, -Number.NaN, 3])).toEqual([1, 3, 0, 4]);
  expect(select(5, [Infinity, Number.NaN, -Infinity, -Number.NaN, 3], false)).toEqual([2, 4, 0, 1, 3]);
});
