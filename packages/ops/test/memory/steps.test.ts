import type { ComputeBackend } from '@concord/backend-core';
import { CpuBackend } from '@concord/backend-cpu';
import { WebGpuBackend } from '@concord/backend-webgpu';
import { expect, test } from 'vitest';
import { memory, mul, softmax, sub, tensor, tidy, transpose } from '../../src/index.ts';

const STEPS = 10_000;

test.each<[string, () => ComputeBackend]>([
  ['cpu', () => new CpuBackend()],
  ['webgpu', () => new WebGpuBackend()],
])('10,000 steps of a loop hold at the end what they held at the beginning: %s', async (_, make) => {
  const backend = make();
  await backend.init();
  try {
    using weights = tensor(backend, [1, 2, 3, 4, 5, 6], [2, 3]);
    const step = (): void => {
      using gradient = tidy(() => mul(transpose(softmax(transpose(weights))), 0));
      sub(weights, gradient, { out: weights });
    };
    const settled = async () => {
      await backend.synchronize();
      return { program: memory(), device: backend.memory() };
    };
    for (let i = 0; i < 1000; i++) step();
    const before = await settled();
    for (let i = 1000; i < STEPS; i++) {
      step();
      if (i % 1000 === 0) await backend.synchronize();
    }
    expect(await settled()).toEqual(before);
    expect(Array.from(await weights.toArray())).toEqual([1, 2, 3, 4, 5, 6]);
  } finally {
    await backend.dispose();
  }
});
