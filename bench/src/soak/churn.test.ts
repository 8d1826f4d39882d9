import { OP_NAMES } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { expect, it } from 'vitest';
import { Churn } from './churn.ts';
import { random, randomOp } from './random-op.ts';

it('draws every op, the same ones from the same seed', () => {
  const draw = (seed: number): unknown[] => {
    const next = random(seed);
    return Array.from({ length: 200 }, () => randomOp(next));
  };
  expect(draw(1)).toEqual(draw(1));
  expect(draw(1)).not.toEqual(draw(2));
  const next = random(3);
  const drawn = new Set(Array.from({ length: 200 }, () => randomOp(next).op));
  expect(drawn).toEqual(new Set(OP_NAMES));
});

it('runs ops, frees what it allocated, and notices a backend that computes something else', async () => {
  const [backend, oracle] = [new CpuBackend(), new CpuBackend()];
  await Promise.all([backend.init(), oracle.init()]);
  const churn = new Churn(backend, 1);
  expect(await churn.run(120, () => false)).toBe(120);
  expect(await churn.run(120, () => true)).toBe(30);
  for (let i = 0; i < 20; i++) await churn.check(oracle);
  backend.binary = ({ output, n }) => backend.fill(output, 0x3f, 4 * n);
  await expect(
    (async () => {
      for (let i = 0; i < 100; i++) await churn.check(oracle);
    })(),
  ).rejects.toThrow(/^binary .* instead of/);
  churn.end();
  // The op that was wrong keeps its memory.
  expect(backend.memory().liveAllocations).toBeLessThan(2);
  await Promise.all([backend.dispose(), oracle.dispose()]);
});
