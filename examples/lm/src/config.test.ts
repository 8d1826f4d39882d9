import { expect, test } from 'vitest';
import { parseConfig } from './config.ts';

const SIZES = { hidden_size: 256, num_attention_heads: 2, num_hidden_layers: 4, max_position_embeddings: 32_768 };
const read = (fields: object) => parseConfig({ model_type: 'qwen2', ...SIZES, ...fields }, 'config.json');
const factors = (rope_scaling: object): number[] => {
  const [own, plain] = [rope_scaling, {}].map((each) => {
    const { layers } = read({ rope_theta: 1e6, rope_scaling: each });
    return layers[0]?.frequencies as Float32Array;
  }) as [Float32Array, Float32Array];
  return [...own].map((each, i) => each / (plain[i] as number));
};

test('what a config leaves out, or takes back with null, is as Transformers has it', () => {
  expect(read({ eos_token_id: [7, 9] }).ends).toEqual([7, 9]);
  const windows = (fields: object) => read(fields).layers.map(({ window }) => window);
  expect(windows({ sliding_window: 6 })).toEqual([6, 6, 6, 6]);
  expect(windows({ sliding_window: 6, use_sliding_window: false })).toEqual(Array(4).fill(undefined));
  expect(read({ model_type: 'gemma2' }).softcap).toEqual({ scores: 50, logits: 30 });
  const none = { attn_logit_softcapping: null, final_logit_softcapping: null };
  expect(read({ model_type: 'gemma2', ...none }).softcap).toEqual({ scores: undefined, logits: undefined });
  expect(() => read({ num_attention_heads: 4, num_key_value_heads: 3 })).toThrow('3 heads of keys do not divide 4');
});

test('frequencies are scaled between the turns of the published rules', () => {
  // YaRN of Qwen 2.5: dimensions up to floor(23.6) stay, from ceil(39.7) on they are divided.
  const yarn = factors({ type: 'yarn', factor: 4, original_max_position_embeddings: 32_768 });
  expect(yarn.map((each) => (each > 0.9999 ? 'stays' : each < 0.2501 ? 'divided' : 'between'))).toEqual([
    ...[...Array<string>(24).fill('stays'), ...Array<string>(16).fill('between')],
    ...Array<string>(24).fill('divided'),
  ]);
  expect(yarn[24]).toBeCloseTo(1 - 0.75 / 17, 5);
  const llama = { rope_type: 'llama3', factor: 8, original_max_position_embeddings: 8192 };
  expect(factors(llama)).toEqual(factors({ ...llama, low_freq_factor: 1, high_freq_factor: 4 }));
});
