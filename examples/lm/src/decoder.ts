import type { ComputeBackend, FloatDType } from '@concord/backend-core';
import {
  add,
  attention,
  empty,
  layerNorm,
  type LinearOptions,
  mul,
  permute,
  reshape,
  rmsNorm,
  slice,
  tanh,
  tensor,
  type Tensor,
  tidy,
  zeros,
} from '@concord/ops';
import type { Config, Layer } from './config.ts';
import { embed, frequenciesOf, positionsOf, rotateAndAppend, type Rotations, rotationsOf } from './kernels.ts';
import { mlp, project } from './logits.ts';
import type { Block, Norm, Product, Weights } from './weights.ts';

/** The state of a batch of texts, all of it on the device. */
export interface Cache extends Disposable {
  /** Keys and values of each layer, `[batch, context, kvHeads, headDim]` each. */
  readonly layers: readonly (readonly [keys: Tensor, values: Tensor])[];
  /** Tokens of each text so far, u32 `[batch]`. */
  readonly lengths: Tensor;
}

/** A decoder-only transformer whose weights are on a device: GPT-2, Llama, Mistral, Qwen 2 and 3, SmolLM, Gemma 2 and 3. */
export class Decoder implements Disposable {
  readonly backend: ComputeBackend;
  readonly config: Config;
  readonly #weights: Weights;
  readonly #dtype: FloatDType;
  /** Of each layer. */
  readonly #frequencies: readonly Tensor[];
  /** The different ones of them. */
  readonly #frequencyKinds: readonly Tensor[];

  /** @param weights - which it owns from now on */
  constructor(backend: ComputeBackend, config: Config, weights: Weights, dtype: FloatDType = 'f32') {
    this.backend = backend;
    this.config = config;
    this.#weights = weights;
    this.#dtype = dtype;
    const shape = [config.heads + 2 * config.kvHeads, config.headDim];
    const kinds = new Map(config.layers.map((layer) => [layer.frequencies, undefined as Tensor | undefined]));
    for (const kind of kinds.keys()) kinds.set(kind, tensor(backend, frequenciesOf(kind, config), shape));
    this.#frequencies = config.layers.map((layer) => kinds.get(layer.frequencies) as Tensor);
    this.#frequencyKinds = [...kinds.values()] as Tensor[];
  }

  /** Room for the tokens of a batch of texts, `context` each; default all that the model knows. */
  cache(batch = 1, context: number = this.config.context): Cache {
    const shape = [batch, context, this.config.kvHeads, this.config.headDim];
    const room = (label: string): Tensor => empty(this.backend, shape, { dtype: this.#dtype, label });
    const { layers, lengths } = tidy(() => ({
      layers: this.#weights.blocks.map((): [Tensor, Tensor] => [room('keys'), room('values')]),
      lengths: zeros(this.backend, [batch], { dtype: 'u32' }),
    }));
    return { layers, lengths, [Symbol.dispose]: () => [...layers.flat(), lengths].forEach((each) => each.dispose()) };
  }

  /**
   * The logits of what follows the last token, `[batch, vocabulary]`. Positions are read on the device, so a recording of it
   * takes the next tokens in each replay.
   *
   * @param ids - u32 `[batch, length]`: the tokens after those in the cache, which it adds to it
   */
  forward(ids: Tensor, { layers, lengths }: Cache): Tensor {
    return tidy(() => {
      const positions = positionsOf(lengths, ids);
      add(lengths, ids.shape[1] as number, { out: lengths });
      const { embedScale, softcap } = this.config;
      let x = embed(ids, positions, this.#weights.tokens, this.#weights.positions, this.#dtype);
      if (embedScale !== 1) mul(x, embedScale, { out: x });
      // Most models rotate alike in all layers.
      const rotations = new Map(this.#frequencyKinds.map((each) => [each, rotationsOf(each, positions)]));
      for (const [layer, block] of this.#weights.blocks.entries()) {
        const rotation = rotations.get(this.#frequencies[layer] as Tensor) as Rotations;
        // What a block takes and makes is freed before the next one, of a long prompt gigabytes.
        using given = x;
        x = tidy(() => {
          const cached = layers[layer] as readonly [Tensor, Tensor];
          const heads = tidy(() =>
            this.#attend(this.#norm(given, block.norm1), layer, cached, rotation, positions, lengths),
          );
          const h = this.#added(given, block.after1, (residual) => project(heads, block.merge, residual));
          return this.#added(h, block.after2, (residual) =>
            mlp(this.config, block, this.#norm(h, block.norm2), residual),
          );
        });
      }
      const logits = project(this.#norm(slice(x, [null, -1]), this.#weights.norm), this.#weights.head);
      if (softcap.logits === undefined) return logits;
      return mul(tanh(mul(logits, 1 / softcap.logits)), softcap.logits);
    });
  }

  /** `x` and what it becomes, which some models norm first. */
  #added(x: Tensor, norm: Norm | undefined, become: (residual: LinearOptions) => Tensor): Tensor {
    return tidy(() => (norm === undefined ? become({ residual: x }) : add(x, this.#norm(become({}), norm))));
  }

  #norm(x: Tensor, { weight, bias }: Norm, out?: Tensor): Tensor {
    const { eps } = this.config;
    // A model of layer norms has biases.
    return bias === undefined ? rmsNorm(x, { weight, eps, out }) : layerNorm(x, { weight, bias, eps, out });
  }

  /** `[batch, length, heads headDim]` */
  #attend(
    x: Tensor,
    layer: number,
    [keys, values]: readonly [Tensor, Tensor],
    rotation: Rotations,
    positions: Tensor,
    lengths: Tensor,
  ): Tensor {
    const { heads, kvHeads, headDim, interleaved, softcap, layers } = this.config;
    const { scale, window } = layers[layer] as Layer;
    const block = this.#weights.blocks[layer] as Block;
    const [batch = 1, length = 1] = x.shape;
    const [rowsQ, rowsKv] = [heads * headDim, kvHeads * headDim];
    const width = rowsQ + 2 * rowsKv;
    const joined =
      block.qkv.length === 1
        ? project(x, block.qkv[0] as Product)
        : empty(this.backend, [batch, length, width], { dtype: this.#dtype });
    const part = (first: number, end: number): Tensor => slice(joined, [null, null, [first, end]]);
    const [q, k, v] = [part(0, rowsQ), part(rowsQ, rowsQ + rowsKv), part(rowsQ + rowsKv, width)];
    if (block.qkv.length > 1)
      for (const [at, out] of [q, k, v].entries()) project(x, block.qkv[at] as Product, { out });
    const byHead = (of: Tensor): Tensor => reshape(of, [batch, length, (of.shape[2] as number) / headDim, headDim]);
    for (const [of, norm] of [[q, block.qNorm] as const, [k, block.kNorm] as const]) {
      const heads = byHead(of);
      if (norm !== undefined) this.#norm(heads, norm, heads);
    }
    const rotated = rotateAndAppend(byHead(joined), positions, rotation, interleaved, [keys, values]);
    const merged = empty(this.backend, [batch, length, heads, headDim], { dtype: this.#dtype });
    const [inQ, inK, inV, out] = [rotated, keys, values, merged].map((each) => permute(each, [0, 2, 1, 3])) as [
      Tensor,
      Tensor,
      Tensor,
      Tensor,
    ];
    const limits = { ...(window && { window }), ...(softcap.scores && { softcap: softcap.scores }) };
    attention(inQ, inK, inV, { causal: true, lengths, scale, out, ...limits });
    return reshape(merged, [batch, length, heads * headDim]);
  }

  dispose(): void {
    this.#weights.dispose();
    for (const each of this.#frequencyKinds) each.dispose();
  }

  [Symbol.dispose](): void {
    this.dispose();
  }
}
