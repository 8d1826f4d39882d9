import { expect, test } from 'vitest';
import { fraction, gathered, positive, positiveInteger, seed, size, sizes } from './option-values.ts';

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

test.each<[string, (value: string) => unknown, Readonly<Record<string, unknown>>, readonly string[]]>([
  ['positive', positive, { '0.5': 0.5, '3': 3 }, ['0', '-1', '', ' ', 'x', 'Infinity', 'NaN', '1,2']],
  ['positiveInteger', positiveInteger, { '1': 1, '12': 12 }, ['0', '1.5', '-1', '', ' ', 'x', '9007199254740992']],
  ['fraction', fraction, { '1': 1, '0.1': 0.1 }, ['0', '1.1', '-0.1', '', ' ', 'x']],
  ['seed', seed, { '0': 0, '4294967295': 2 ** 32 - 1 }, ['4294967296', '-1', '1.5', '', ' ', 'x']],
  ['size', size, { '0': 0, '7': 7 }, ['-1', '1.5', '', ' ', 'x', '9007199254740992']],
  [
    'sizes',
    sizes,
    { '': [], ' ': [], '0': [0], '2,3': [2, 3], '2, 3': [2, 3] },
    ['2,', ',2', '2,,3', ',', 'a', '2,-1'],
  ],
])('%s takes what it means and nothing else', (_, read, taken, refused) => {
  for (const [text, value] of Object.entries(taken)) expect(read(text), text).toEqual(value);
  for (const text of refused) expect(() => read(text), text).toThrow(/^It must be /);
});
