import { CpuBackend } from '@concord/backend-cpu';
import { full, reshape, tensor, type Tensor, tidy, zeros } from '@concord/ops';
import { afterAll, expect, test } from 'vitest';
import { numbersOf, sample, type Sampling } from './sample.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

async function chosen(logits: Tensor, sampling: Sampling, step: number): Promise<number[]> {
  const [batch = 1] = logits.shape;
  const { coldness, noise, share, seed } = numbersOf(sampling);
  return tidy(() => {
    const all = (value: number): Tensor => full(backend, [batch], value);
    const counted = (value: number): Tensor => full(backend, [batch], value, { dtype: 'u32' });
    const choice = { coldness: all(coldness), noise: all(noise), share: all(share), seed: counted(seed) };
    const out = counted(0);
    sample(logits, choice, counted(step), reshape(out, [batch, 1]), { hasNucleus: share < 1 });
    return out;
  })
    .toArray()
    .then((tokens) => [...tokens]);
}

test('what is a thousand times as likely wins, whatever the noise', async () => {
  const logits = new Float32Array(50_257).fill(-1000);
  logits[0] = 1000;
  using own = tensor(backend, logits, [1, logits.length]);
  // At the first of these steps 24 bits would round to 1, whose noise is infinite.
  for (const step of [26, 562, 685]) {
    expect(await chosen(own, { temperature: 1, seed: 1 }, step)).toEqual([0]);
  }
});

test('seeds and steps draw apart; the least temperature is none', async () => {
  using same = zeros(backend, [1, 1000]);
  const drawn = async (seed: number, step: number): Promise<string> =>
    String(await chosen(same, { temperature: 1, seed }, step));
  expect(new Set([await drawn(1, 0), await drawn(1, 1), await drawn(2, 0), await drawn(1, 0)]).size).toBe(3);
  using logits = tensor(backend, [[0, 5, 3]]);
  expect(await chosen(logits, { temperature: 1e-40, seed: 1 }, 0)).toEqual([1]);
  expect(numbersOf({ temperature: 0.5, seed: 1 })).toMatchObject({ coldness: 2, noise: 1, share: 1 });
});

test('a nucleus is the fewest likely tokens that have its share', async () => {
  const chances = [0.05, 0.4, 0.1, 0.3, 0.15];
  using logits = tensor(backend, [chances.map(Math.log)]);
  const among = async (topP: number): Promise<number[]> => {
    const found = new Set<number>();
    for (let seed = 0; seed < 60; seed++)
      for (const each of await chosen(logits, { temperature: 1, topP, seed }, 3)) found.add(each);
    return [...found].sort((a, b) => a - b);
  };
  expect(await among(0.39)).toEqual([1]);
  expect(await among(0.69)).toEqual([1, 3]);
  expect(await among(0.84)).toEqual([1, 3, 4]);
});
