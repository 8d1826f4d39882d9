import { expect, it } from 'vitest';
import { cuts } from './work.ts';

it.each<[total: number, size: number, least: number, lengths: readonly number[]]>([
  [0, 10, 1, []],
  [10, 10, 5, [10]],
  [3, 10, 5, [3]],
  [25, 10, 1, [10, 10, 5]],
  [21, 10, 1, [10, 10, 1]],
  [21, 10, 5, [10, 6, 5]],
  [24, 10, 5, [10, 9, 5]],
  [11, 10, 5, [6, 5]],
])('%d by %d, none below %d', (total, size, least, lengths) => {
  const pieces = [...cuts(total, size, least)];
  expect(pieces.map(([, length]) => length)).toEqual(lengths);
  let end = 0;
  for (const [start, length] of pieces) {
    expect(start).toBe(end);
    end += length;
  }
  expect(end).toBe(total);
});
