import { CpuBackend } from '@concord/backend-cpu';
import { afterAll, expect, test } from 'vitest';
import { dropout, ones, randomNormal, randomUniform } from '../src/index.ts';
import { philox } from './support/philox.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const mean = (values: readonly number[]): number => values.reduce((sum, each) => sum + each, 0) / values.length;
const COUNT = 2 ** 16;

test('the generator that the cases compare with gives the known answers of Random123', () => {
  expect(philox([0, 0, 0, 0], [0, 0])).toEqual([0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8]);
  const ones32 = 0xffffffff;
  expect(philox([ones32, ones32, ones32, ones32], [ones32, ones32])).toEqual([
    0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd,
  ]);
});

test('uniform numbers have the moments of their distribution and stay in their bounds', async () => {
  using x = randomUniform(backend, [COUNT], { seed: 5, low: 2, high: 4 });
  const values = Array.from(await x.toArray());
  // Five standard errors.
  expect(Math.abs(mean(values) - 3)).toBeLessThan((5 / Math.sqrt(COUNT)) * Math.sqrt(4 / 12));
  expect(mean(values.map((each) => (each - 3) ** 2))).toBeCloseTo(4 / 12, 2);
  expect(values.every((each) => each >= 2 && each <= 4)).toBe(true);
});

test('normal numbers have the moments of their distribution', async () => {
  using x = randomNormal(backend, [COUNT], { seed: 5 });
  const values = Array.from(await x.toArray());
  const moments = [1, 2, 3, 4].map((power) => mean(values.map((each) => each ** power)));
  const wanted = [0, 1, 0, 3];
  // Five standard errors: the variances of the powers are 1, 2, 15 and 96.
  for (const [i, variance] of [1, 2, 15, 96].entries()) {
    const error = Math.abs((moments[i] as number) - (wanted[i] as number));
    expect(error).toBeLessThan(5 * Math.sqrt(variance / COUNT));
  }
});

test('dropout drops its share, another seed other places, an offset goes on in the same stream', async () => {
  using x = ones(backend, [COUNT]);
  using one = dropout(x, 0.3, { seed: 1 });
  using other = dropout(x, 0.3, { seed: 2 });
  using later = dropout(x, 0.3, { seed: 1, offset: 100 });
  const [a, b, c] = [await one.toArray(), await other.toArray(), await later.toArray()];
  const share = Array.from(a).filter((each) => each === 0).length / COUNT;
  expect(Math.abs(share - 0.3)).toBeLessThan(5 * Math.sqrt((0.3 * 0.7) / COUNT));
  expect(a.slice(100)).toEqual(c.slice(0, -100));
  expect(Array.from(b)).not.toEqual(Array.from(a));
});
