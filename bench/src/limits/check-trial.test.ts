import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { limitCases } from './cases.ts';
import { checkTrial } from './check-trial.ts';

it('agrees with the CPU backend in every op, and finds an output that is not written or wrong', async () => {
  const backend = new CpuBackend();
  await backend.init();
  for (const limitCase of limitCases(true)) {
    const trial = limitCase.place(backend);
    await expect(checkTrial(backend, { ...trial, run: () => undefined })).rejects.toThrow(/is NaN instead of/);
    await checkTrial(backend, trial);
    const wrong = { ...trial, expected: () => ({ value: 12_345, magnitude: 1 }) };
    await expect(checkTrial(backend, wrong)).rejects.toThrow(/^wrong result: entry 0 is/);
    trial.free();
  }
  expect(backend.memory().liveAllocations).toBe(0);
  await backend.dispose();
});
