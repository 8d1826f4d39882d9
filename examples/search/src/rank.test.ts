import { expect, test } from 'vitest';
import { topRows } from './rank.ts';

test('best first, equal ones in order, never more than there are', () => {
  const scores = Float32Array.of(0.5, 2, 0.5, -1, 2);
  expect(topRows(scores, 3)).toEqual([
    { row: 1, score: 2 },
    { row: 4, score: 2 },
    { row: 0, score: 0.5 },
  ]);
  expect(topRows(scores, 9).map(({ row }) => row)).toEqual([1, 4, 0, 2, 3]);
});

test('passes over rows that are not accepted', () => {
  expect(topRows(Float32Array.of(3, 2, 1), 2, (row) => row !== 0).map(({ row }) => row)).toEqual([1, 2]);
});

test('agrees with sorting', () => {
  const scores = Float32Array.from({ length: 1000 }, (_, i) => Math.sin(i * i));
  const sorted = [...scores].map((score, row) => ({ row, score })).sort((x, y) => y.score - x.score || x.row - y.row);
  expect(topRows(scores, 20)).toEqual(sorted.slice(0, 20));
});
