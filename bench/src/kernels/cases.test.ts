import { checkEntries, placeWork } from '@concord/cli/bench';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { casesOf } from '../limits/cases.ts';
import { kernelCases } from './cases.ts';

const works = [
  ...kernelCases(true).map(({ op, name, benchCase }) => ({ title: `${op} ${name}`, work: benchCase.prepare() })),
  ...casesOf('quick').map((limitCase) => ({ title: `${limitCase.op} ${limitCase.name}`, work: limitCase })),
];

it('the CPU backend agrees with float64 in every case, and an output that is not written is found', async () => {
  const backend = new CpuBackend();
  await backend.init();
  for (const { title, work } of works) {
    const placed = placeWork(work, backend);
    const findWrong = checkEntries(work);
    const wrong = (): Promise<string | undefined> => findWrong((indices) => placed.entries(indices));
    // All bits set is NaN, or the greatest place.
    expect(await wrong(), title).toMatch(/^entry 0 is (NaN|4294967300), want/);
    await placed.call();
    expect(await wrong(), title).toBeUndefined();
    placed.free();
  }
  expect(backend.memory().liveAllocations).toBe(0);
  await backend.dispose();
});
