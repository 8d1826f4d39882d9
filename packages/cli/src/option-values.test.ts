import { expect, test } from 'vitest';
import { gathered } from './option-values.ts';

test('each --gather adds a tensor, and the last of a name counts', () => {
  const all = ['a=4', 'b=50000,64', 'c=', 'a=2,3'].reduce<ReturnType<typeof gathered> | undefined>(
    (before, value) => gathered(value, before),
    undefined,
  );
  expect(all).toEqual({ a: { shape: [2, 3] }, b: { shape: [50_000, 64] }, c: { shape: [] } });
});

test.each(['table', '=4', ''])('%j is no tensor', (value) => {
  expect(() => gathered(value)).toThrow('It looks like table=50000,64.');
});
