import type { ComputeBackend } from '@concord/backend-core';
import { Decoder, parseConfig, weightsOf } from '@concord/example-lm';
import { randomNormal, tensor, type Tensor } from '@concord/ops';
import { recordToken } from '../gpt/concord.ts';
import { hostMsOf } from '../models.ts';
import type { OnnxContestant } from '../onnx.ts';
import { NotOffered } from '../peer.ts';
import type { DecoderSizes } from './zoo.ts';

/** The decoder of `examples/lm` with random weights of 4 bits, whose token is replayed. */
export const exampleLm = (name: string, create: () => ComputeBackend): OnnxContestant => ({
  ...{ name: 'examples/lm', role: 'limit', version: `${name} and examples/lm, this checkout` },
  remark: 'its own program for the same shape, with other weights',
  async prepare({ decoder }) {
    if (decoder === undefined) throw new NotOffered('is a decoder');
    const backend = create();
    await backend.init();
    const config = parseConfig(configOf(decoder), 'the case');
    const model = new Decoder(backend, config, weightsOf(weights(backend, decoder), config, { quantize: 'i4' }));
    const given = tensor(backend, Uint32Array.of(5), [1, 1]);
    const cache = model.cache(1);
    const token = recordToken(backend, model, 'pipelined', decoder.cached, given, cache);
    return {
      async calls(count) {
        const hostMs = await hostMsOf(count, () => token.replay());
        await backend.synchronize();
        return hostMs;
      },
      outputs: undefined,
      async close() {
        token.dispose();
        given.dispose();
        cache[Symbol.dispose]();
        model.dispose();
        await backend.dispose();
      },
    };
  },
});

function configOf({ layers, width, inner, heads, kvHeads, words, cached }: DecoderSizes): Record<string, unknown> {
  return {
    ...{ model_type: 'llama', hidden_size: width, num_hidden_layers: layers, num_attention_heads: heads },
    ...{ num_key_value_heads: kvHeads, intermediate_size: inner, vocab_size: words, hidden_act: 'silu' },
    ...{ max_position_embeddings: cached + 1, rms_norm_eps: 1e-5, rope_theta: 5e5 },
  };
}

function weights(backend: ComputeBackend, sizes: DecoderSizes): Record<string, Tensor> {
  const { layers, width, inner, heads, kvHeads, words } = sizes;
  const dim = width / heads;
  const made: Record<string, Tensor> = {};
  const add = (name: string, ...shape: number[]): void => {
    made[`${name}.weight`] = randomNormal(backend, shape, { std: 0.02, mean: shape.length === 1 ? 1 : 0, seed: 1 });
  };
  // Of the table a token's row alone is read.
  add('embed_tokens', 8, width);
  for (let layer = 0; layer < layers; layer++) {
    const at = `layers.${layer}`;
    add(`${at}.input_layernorm`, width);
    add(`${at}.post_attention_layernorm`, width);
    add(`${at}.self_attn.q_proj`, heads * dim, width);
    add(`${at}.self_attn.k_proj`, kvHeads * dim, width);
    add(`${at}.self_attn.v_proj`, kvHeads * dim, width);
    add(`${at}.self_attn.o_proj`, width, heads * dim);
    add(`${at}.mlp.gate_proj`, inner, width);
    add(`${at}.mlp.up_proj`, inner, width);
    add(`${at}.mlp.down_proj`, width, inner);
  }
  add('norm', width);
  add('lm_head', words, width);
  return made;
}
