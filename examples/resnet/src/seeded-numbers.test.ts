import { expect, test } from 'vitest';
import { seededNumbers } from './seeded-numbers.ts';

test('gives the numbers that the reference makes', () => {
  // Of `seeded` in reference/resnet.py.
  expect([...seededNumbers(4, { seed: 0, bound: 1 })]).toEqual([
    -1.0, -0.1833019256591797, 0.6333962678909302, -0.34417998790740967,
  ]);
  expect([...seededNumbers(3, { seed: 41, bound: 0.75 * Math.sqrt(6 / 27) })]).toEqual([
    -0.2556057572364807, 0.1152181476354599, -0.24121500551700592,
  ]);
});

test('they fill the range evenly, and another seed gives others', () => {
  const numbers = seededNumbers(30_000, { seed: 3, bound: 2 });
  const share = (from: number, to: number): number =>
    numbers.filter((x) => x >= from && x < to).length / numbers.length;
  for (const from of [-2, -1, 0, 1]) expect(share(from, from + 1)).toBeCloseTo(0.25, 1);
  expect(seededNumbers(5, { seed: 4, bound: 2 })).not.toEqual(numbers.slice(0, 5));
});
