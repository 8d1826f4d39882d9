import { expect, it } from 'vitest';
import { ListMap } from './list-map.ts';

it('finds a value by what is in the list, to the last bit', () => {
  const keys = [[], [1], [1, 2], [2, 1], ['sum', 1], ['max', 1], [true], [false], [0], [-0], [0.5], [0.25], [2 ** 40]];
  const map = new ListMap<number>();
  for (const [index, key] of [...keys, [Number.NaN]].entries()) {
    expect(map.get(key)).toBeUndefined();
    map.add(key, index);
  }
  for (const [index, key] of [...keys, [Number.NaN]].entries()) expect(map.get([...key])).toBe(index);
  expect(map.size).toBe(keys.length + 1);
  map.clear();
  expect(map.size).toBe(0);
  expect(map.get([1])).toBeUndefined();
});

it('keeps no hold on the list', () => {
  const map = new ListMap<string>();
  const key = [1, 2];
  map.add(key, 'one and two');
  key[0] = 3;
  expect(map.get([1, 2])).toBe('one and two');
  expect(map.get(key)).toBeUndefined();
});
