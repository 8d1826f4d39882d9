import { expect, it } from 'vitest';
import { ListCache, ListMap } from './list-map.ts';

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

it('keys that differ in a fraction alone do not all lie in one place', () => {
  const map = new ListCache<number>(4096);
  const keys = Array.from({ length: 4000 }, (_, i) => ['gemm', 64, 1 / (i + 2)]);
  let compared = 0;
  const counting = (key: readonly unknown[]): unknown[] =>
    new Proxy([...key], {
      get(list, name, receiver) {
        if (name === '2') compared++;
        return Reflect.get(list, name, receiver) as unknown;
      },
    });
  for (const [i, key] of keys.entries()) map.add(key, i);
  for (const [i, key] of keys.entries()) expect(map.get(counting(key))).toBe(i);
  // Once for the hash, and once for each key that shares it.
  expect(compared).toBeLessThan(3 * keys.length);
});

it('what was not asked for in two generations is forgotten, and nothing else', () => {
  const cache = new ListCache<string>(4);
  cache.add(['again'], 'again');
  cache.add(['once'], 'once');
  for (let i = 0; i < 100; i++) {
    cache.add([i], String(i));
    expect(cache.get(['again'])).toBe('again');
    expect(cache.get([i])).toBe(String(i));
  }
  expect(cache.get(['once'])).toBeUndefined();
});

it('keeps no hold on the list', () => {
  const map = new ListMap<string>();
  const key = [1, 2];
  map.add(key, 'one and two');
  key[0] = 3;
  expect(map.get([1, 2])).toBe('one and two');
  expect(map.get(key)).toBeUndefined();
});
