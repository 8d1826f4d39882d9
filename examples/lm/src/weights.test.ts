import { CpuBackend } from '@concord/backend-cpu';
import { linear, mul, randomUniform, silu, type Tensor, tensor, zeros } from '@concord/ops';
import { afterAll, expect, test } from 'vitest';
import { parseConfig } from './config.ts';
import { mlp } from './logits.ts';
import { type Block, type NamedWeights, weightsOf } from './weights.ts';

const backend = await CpuBackend.create();
afterAll(() => backend.dispose());

const [WIDTH, HIDDEN, VOCABULARY] = [8, 12, 16];
const CONFIG = parseConfig(
  { model_type: 'llama', hidden_size: WIDTH, num_attention_heads: 2, num_hidden_layers: 1, max_position_embeddings: 8 },
  'config.json',
);
const MLP = 'model.layers.0.mlp';

/** Random weights of one layer. */
function named(more: Record<string, readonly number[]> = {}): NamedWeights {
  const shapes: Record<string, readonly number[]> = {
    'model.embed_tokens.weight': [VOCABULARY, WIDTH],
    'model.norm.weight': [WIDTH],
    'model.layers.0.input_layernorm.weight': [WIDTH],
    'model.layers.0.post_attention_layernorm.weight': [WIDTH],
    ...Object.fromEntries(
      ['q', 'k', 'v', 'o'].map((part) => [`model.layers.0.self_attn.${part}_proj.weight`, [WIDTH, WIDTH]]),
    ),
    [`${MLP}.gate_proj.weight`]: [HIDDEN, WIDTH],
    [`${MLP}.up_proj.weight`]: [HIDDEN, WIDTH],
    [`${MLP}.down_proj.weight`]: [WIDTH, HIDDEN],
    ...more,
  };
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape], seed) => [name, randomUniform(backend, [...shape], { seed, low: -1 })]),
  );
}

test.each([
  ['without biases', {}],
  [
    'with biases, which come before the activation',
    { [`${MLP}.gate_proj.bias`]: [HIDDEN], [`${MLP}.up_proj.bias`]: [HIDDEN] },
  ],
])('a gated MLP %s', async (_, biases) => {
  const own = named(biases) as Record<string, Tensor>;
  const x = tensor(
    backend,
    Float32Array.from({ length: 2 * WIDTH }, (_, i) => (i % 5) - 2),
    [1, 2, WIDTH],
  );
  const part = (name: string, of: Tensor): Tensor =>
    linear(of, own[`${MLP}.${name}_proj.weight`] as Tensor, { bias: own[`${MLP}.${name}_proj.bias`] });
  const want = await part('down', mul(silu(part('gate', x)), part('up', x))).toArray();
  const weights = weightsOf(own, CONFIG);
  const got = await mlp(CONFIG, weights.blocks[0] as Block, x, { residual: zeros(backend, [1, 2, WIDTH]) }).toArray();
  expect([...got].map(Number)).toEqual([...want].map((value) => expect.closeTo(Number(value), 4) as number));
  weights.dispose();
});

test('gate and up have as many rows as each other', () => {
  expect(() => weightsOf(named({ [`${MLP}.up_proj.weight`]: [HIDDEN + 2, WIDTH] }), CONFIG)).toThrow(
    expect.objectContaining({ code: 'BAD_MODEL' }),
  );
});
