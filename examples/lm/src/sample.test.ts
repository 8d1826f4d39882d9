import { CpuBackend } from '@concord/backend-cpu';
import { tensor, type Tensor, zeros } from '@concord/ops';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { sample } from './sample.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

const stepOf = (step: number): Tensor => tensor(backend, [step], [1], { dtype: 'u32' });

test('what is a thousand times as likely wins, whatever the noise', async () => {
  const logits = new Float32Array(50_257).fill(-1000);
  logits[0] = 1000;
  using own = tensor(backend, logits, [1, logits.length]);
  // At the first of these steps 24 bits would round to 1, whose noise is infinite.
  for (const step of [26, 562, 685]) {
    using token = sample(own, { temperature: 1, seed: 1 }, stepOf(step));
    expect(await token.item()).toBe(0);
  }
});

test('the rows of a batch are drawn apart; the least temperature is none', async () => {
  using same = zeros(backend, [4, 1000]);
  using drawn = sample(same, { temperature: 1, seed: 1 }, zeros(backend, [4], { dtype: 'u32' }));
  expect(new Set(await drawn.toArray()).size).toBeGreaterThan(1);
  using logits = tensor(backend, [[0, 5, 3]]);
  using coldest = sample(logits, { temperature: 1e-40, seed: 1 }, stepOf(0));
  expect(await coldest.item()).toBe(1);
});
