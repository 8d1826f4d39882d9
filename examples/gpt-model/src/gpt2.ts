import type { ComputeBackend } from '@concord/backend-core';
import { defineKernel } from '@concord/backend-core/kernel';
import {
  add,
  empty,
  layerNorm,
  linear,
  run,
  slice,
  type Tensor,
  tidy,
  transpose,
  unsqueeze,
  zeros,
} from '@concord/ops';
import { UserError } from '@concord/example-command';
import type { Config } from './config.ts';
import { type Block, type Norm, type Projection, transformerBlock } from './transformer.ts';

/** Token and position of each place, added: one launch. */
const embed = defineKernel(
  'embed',
  {
    inputs: {
      ids: 'u32',
      tokens: { type: 'f32', access: 'gather', rank: 2 },
      positions: { type: 'f32', access: 'gather', rank: 2 },
      lengths: 'u32',
    },
  },
  ({ ids, tokens, positions, lengths }, k) => {
    const position = k.add(k.sub(lengths, k.extent(-2)), k.index(-2));
    return { x: k.add(k.gather(tokens, [ids, k.index(-1)], 0), k.gather(positions, [position, k.index(-1)], 0)) };
  },
);

/** The state of a batch of texts, all of it on the device. */
export interface Cache {
  /** Keys and values of the tokens of each layer, `[batch, context, 2 width]`. */
  readonly layers: readonly Tensor[];
  /** Tokens of each text so far, u32 `[batch]`. */
  readonly lengths: Tensor;
}

/** A GPT-2 whose weights are on a device. */
export class Gpt2 implements Disposable {
  readonly config: Config;
  readonly #weights: Readonly<Record<string, Tensor>>;
  readonly #blocks: readonly Block[];
  readonly #tokens: Tensor;
  readonly #positions: Tensor;
  readonly #norm: Norm;

  /**
   * @param weights - by the names of GPT-2's files, which it owns from now on
   * @throws {UserError} BAD_MODEL for a weight that is missing or of another shape
   */
  constructor(config: Config, weights: Readonly<Record<string, Tensor>>) {
    this.config = config;
    this.#weights = weights;
    const { n_embd: width, vocab_size: vocabulary, n_positions: context } = config;
    const take = (name: string, shape: readonly number[]): Tensor => checkedWeight(weights, name, shape);
    const norm = (name: string): Norm => ({
      weight: take(`${name}.weight`, [width]),
      bias: take(`${name}.bias`, [width]),
    });
    const product = (name: string, from: number, to: number): Projection => {
      // Stored [in, out].
      return { weight: transpose(take(`${name}.weight`, [from, to])), bias: take(`${name}.bias`, [to]) };
    };
    this.#tokens = take('wte.weight', [vocabulary, width]);
    this.#positions = take('wpe.weight', [context, width]);
    this.#norm = norm('ln_f');
    const block = (_: unknown, layer: number): Block => ({
      norm1: norm(`h.${layer}.ln_1`),
      qkv: product(`h.${layer}.attn.c_attn`, width, 3 * width),
      merge: product(`h.${layer}.attn.c_proj`, width, width),
      norm2: norm(`h.${layer}.ln_2`),
      up: product(`h.${layer}.mlp.c_fc`, width, 4 * width),
      down: product(`h.${layer}.mlp.c_proj`, 4 * width, width),
    });
    // Views of some weights do not outlive another one that is missing.
    this.#blocks = tidy(() => Array.from({ length: config.n_layer }, block));
  }

  get backend(): ComputeBackend {
    return this.#tokens.backend;
  }

  /** Room for the tokens of a batch of texts, `context` each; default all that the model knows. */
  cache(batch = 1, context: number = this.config.n_positions): Cache {
    const shape = [batch, context, 2 * this.config.n_embd];
    const { dtype } = this.#tokens;
    return tidy(() => ({
      layers: this.#blocks.map(() => empty(this.backend, shape, { dtype, label: 'cache' })),
      lengths: zeros(this.backend, [batch], { dtype: 'u32' }),
    }));
  }

  /**
   * The logits of what follows the last token, `[batch, vocabulary]`. Positions are read on the device, so a recording of it
   * takes the next tokens in each replay.
   *
   * @param ids - u32 `[batch, length]`: the tokens after those in the cache, which it adds to it
   */
  forward(ids: Tensor, { layers, lengths }: Cache): Tensor {
    const { n_head: heads, n_embd: width, layer_norm_epsilon: eps } = this.config;
    const [batch = 1, length = 1] = ids.shape;
    return tidy(() => {
      add(lengths, length, { out: lengths });
      const given = { ids: unsqueeze(ids, -1), lengths: unsqueeze(lengths, [1, 2]) };
      const tables = { tokens: this.#tokens, positions: this.#positions };
      let x = empty(this.backend, [batch, length, width], { dtype: this.#tokens.dtype });
      run(embed, { ...given, ...tables }, { shape: x.shape, out: { x } });
      for (const [layer, block] of this.#blocks.entries()) {
        x = transformerBlock(x, block, { heads, eps }, layers[layer] as Tensor, lengths);
      }
      const last = slice(x, [null, -1]);
      return linear(layerNorm(last, { ...this.#norm, eps }), this.#tokens);
    });
  }

  dispose(): void {
    for (const { qkv, merge, up, down } of this.#blocks) {
      for (const { weight } of [qkv, merge, up, down]) weight.dispose();
    }
    for (const each of Object.values(this.#weights)) each.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}

function checkedWeight(weights: Readonly<Record<string, Tensor>>, name: string, shape: readonly number[]): Tensor {
  // The record of loadSafetensors throws for a name that it does not have.
  const own = [name, `transformer.${name}`].find((each) => each in weights);
  const weight = own === undefined ? undefined : weights[own];
  const shown = (sizes: readonly number[]): string => `[${sizes.join(', ')}]`;
  if (weight === undefined) {
    throw new UserError('BAD_MODEL', `the weights have no ${name}`, { hint: 'are these the files of a GPT-2?' });
  }
  if (shown(weight.shape) === shown(shape)) return weight;
  throw new UserError('BAD_MODEL', `${name} is ${shown(weight.shape)}, the config says ${shown(shape)}`);
}
