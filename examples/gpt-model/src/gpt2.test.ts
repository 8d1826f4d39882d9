import { CpuBackend } from '@concord/backend-cpu';
import { memory, zeros } from '@concord/ops';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Gpt2 } from './gpt2.ts';

const backend = new CpuBackend();
beforeAll(() => backend.init());
afterAll(() => backend.dispose());

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
