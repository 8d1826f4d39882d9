import { CpuBackend } from '@concord/backend-cpu';
import { expect, test } from 'vitest';
import { CASES } from './support/cases.ts';
import { byDifferences, byTape, dataOf } from './support/differences.ts';

const backend = await CpuBackend.create();

test.each(CASES)('$name agrees with differences', async (own) => {
  const data = dataOf(own);
  const { gradients, factors } = await byTape(backend, own, data);
  const expected = await byDifferences(
    backend,
    own,
    data,
    factors,
    own.isApart === true ? 1 / 128 : own.tolerance === undefined ? 1 / 32 : 1 / 8,
  );
  for (const [index, each] of expected.entries()) {
    const largest = Math.max(1, ...each.map(Math.abs));
    for (const [place, wanted] of each.entries()) {
      expect(
        Math.abs((gradients[index]?.[place] as number) - wanted),
        `tensor ${index}, element ${place}: ${gradients[index]?.[place]} for ${wanted}`,
      ).toBeLessThan((own.tolerance ?? 4e-4) * largest);
    }
  }
});
