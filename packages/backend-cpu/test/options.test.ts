import { expect, it } from 'vitest';
import { cpu, CpuBackend } from '../src/index.ts';

it('misspelt options are refused', async () => {
  const misspelt = { memoryLimitByte: 100 } as object;
  const error = expect.objectContaining({
    code: 'INVALID_ARGUMENT',
    detail: 'options has no field memoryLimitByte; did you mean memoryLimitBytes?',
  }) as Error;
  expect(() => new CpuBackend(misspelt)).toThrow(error);
  expect(() => cpu(misspelt)).toThrow(error);
  await expect(cpu().create(misspelt)).rejects.toThrow(error);
  expect(() => new CpuBackend({ memoryLimitBytes: 100 })).not.toThrow();
});

it('the provider hands the options of whoever selects it on', async () => {
  await using backend = await cpu().create({ memoryLimitBytes: 100 });
  await backend.init();
  expect(() => backend.alloc(101)).toThrow(expect.objectContaining({ code: 'OUT_OF_MEMORY' }));
});
