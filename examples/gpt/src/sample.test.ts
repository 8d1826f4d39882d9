import { CpuBackend } from '@concord/backend-cpu';
import { memory, tensor, zeros } from '@concord/ops';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gpt2 } from './gpt2.ts';
import { sample } from './sample.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

test('what is a thousand times as likely wins, whatever the noise', async () => {
  const logits = new Float32Array(50_257).fill(-1000);
  logits[0] = 1000;
  using own = tensor(backend, logits, [1, logits.length]);
  // At the first of these steps 24 bits would round to 1, whose noise is infinite.
  for (const step of [26, 562, 685]) {
    using token = sample(own, { temperature: 1, seed: 1 }, step);
    expect(await token.item()).toBe(0);
  }
});

test('the rows of a batch are drawn apart; the least temperature is none', async () => {
  using same = zeros(backend, [4, 1000]);
  using drawn = sample(same, { temperature: 1, seed: 1 }, 0);
  expect(new Set(await drawn.toArray()).size).toBeGreaterThan(1);
  using logits = tensor(backend, [[0, 5, 3]]);
  using coldest = sample(logits, { temperature: 1e-40, seed: 1 }, 0);
  expect(await coldest.item()).toBe(1);
});

test('a model with a weight too few leaves nothing', () => {
  const before = memory();
  const config = { vocab_size: 3, n_positions: 4, n_embd: 2, n_layer: 2, n_head: 1, layer_norm_epsilon: 1e-5 };
  const shapes = {
    ...{ 'wte.weight': [3, 2], 'wpe.weight': [4, 2], 'ln_f.weight': [2], 'ln_f.bias': [2] },
    ...{ 'h.0.ln_1.weight': [2], 'h.0.ln_1.bias': [2], 'h.0.ln_2.weight': [2], 'h.0.ln_2.bias': [2] },
    ...{ 'h.0.attn.c_attn.weight': [2, 6], 'h.0.attn.c_attn.bias': [6] },
    ...{ 'h.0.attn.c_proj.weight': [2, 2], 'h.0.attn.c_proj.bias': [2] },
    ...{ 'h.0.mlp.c_fc.weight': [2, 8], 'h.0.mlp.c_fc.bias': [8] },
    ...{ 'h.0.mlp.c_proj.weight': [8, 2], 'h.0.mlp.c_proj.bias': [2] },
  };
  const weights = Object.fromEntries(Object.entries(shapes).map(([name, shape]) => [name, zeros(backend, shape)]));
  expect(() => new Gpt2(config, weights)).toThrow('the weights have no h.1.ln_1.weight');
  for (const each of Object.values(weights)) each.dispose();
  expect(memory()).toEqual(before);
});
