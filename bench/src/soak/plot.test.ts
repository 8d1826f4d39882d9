import { expect, it } from 'vitest';
import { plot } from './plot.ts';

it('draws each panel from zero, to the last value', () => {
  const svg = plot(
    'a < b',
    'ops',
    [10, 20, 30],
    [
      { title: 'first', values: [1, 2, 1] },
      { title: 'flat', values: [0, 0, 0] },
    ],
  );
  expect(svg).toContain('a &lt; b');
  expect(svg).toContain('30 ops');
  const [first, second] = [...svg.matchAll(/points="([^"]+)"/g)].map(([, points]) => points?.split(' '));
  expect(first?.map((point) => Number(point.split(',')[1]))).toEqual([87, 54, 87]);
  expect(new Set(second?.map((point) => point.split(',')[1])).size).toBe(1);
  expect(svg).not.toContain('NaN');
});
