import { OP_NAMES } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { Churn, random, randomCase } from './churn.ts';

it('draws every op, the same ones from the same seed', () => {
  const draw = (seed: number): string[] => {
    const next = random(seed);
    return Array.from({ length: 200 }, () => randomCase(next).id);
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  expect(new Set(draw(3).map((id) => id.split('/')[0]))).toEqual(new Set(OP_NAMES));
});

it('runs ops, frees what it allocated, and notices a backend that computes something else', async () => {
  const backend = new CpuBackend();
  await backend.init();
  const churn = new Churn(backend, 1);
  expect(await churn.run(120, () => false)).toBe(120);
  expect(await churn.run(120, () => true)).toBe(30);
  const checkMany = async (): Promise<void> => {
    for (let i = 0; i < 100; i++) await churn.check();
  };
  await checkMany();
  backend.binary = ({ output, n }) => backend.fill(output, 0x3f, 4 * n);
  await expect(checkMany()).rejects.toThrow(/^binary\/.*: entry \d+ is .*, want /);
  churn.end();
  expect(backend.memory().liveAllocations).toBe(0);
  await backend.dispose();
});
