import { concat, pack, QuantizedTensor, type Tensor, tidy, transpose } from '@concord/ops';
import { UserError } from '@concord/example-command';
import type { Config } from './config.ts';

/** A matrix, of floats or quantized. */
export type Matrix = Tensor | QuantizedTensor;

/** A norm's factors and what it adds, `[width]` each. */
export interface Norm {
  readonly weight: Tensor;
  readonly bias?: Tensor | undefined;
}

/** A product's weights, `[out, in]`, and what it adds. */
export interface Product {
  readonly weight: Matrix;
  readonly bias?: Tensor | undefined;
}

/** One block's weights. */
export interface Block {
  readonly norm1: Norm;
  /** Queries, keys and values: one product that gives all side by side, or three. */
  readonly qkv: readonly Product[];
  readonly qNorm: Norm | undefined;
  readonly kNorm: Norm | undefined;
  readonly merge: Product;
  readonly norm2: Norm;
  readonly gate: Product | undefined;
  readonly up: Product;
  readonly down: Product;
}

/** All weights of a decoder. */
export interface Weights {
  readonly tokens: Matrix;
  readonly positions: Tensor | undefined;
  readonly blocks: readonly Block[];
  readonly norm: Norm;
  readonly head: Product;
  dispose(): void;
}

/** Weights by the names of their files. */
export type NamedWeights = Readonly<Record<string, Matrix>>;

/**
 * The weights of a decoder by their names in Transformers' files, of Llama's kind or GPT-2's.
 *
 * @param named - which it owns from now on
 * @throws {UserError} BAD_MODEL for a weight that is missing or of another shape
 */
export function weightsOf(named: NamedWeights, config: Config): Weights {
  const owned = new Set<Matrix>(Object.values(named));
  const dispose = (): void => owned.forEach((each) => each.dispose());
  const own = <Of extends Matrix>(made: Of): Of => {
    owned.add(made);
    return made;
  };
  const find = (name: string): Matrix | undefined => {
    const found = [name, `model.${name}`, `transformer.${name}`].find((each) => each in named);
    return found === undefined ? undefined : named[found];
  };
  const take = (name: string, shape: readonly (number | undefined)[]): Matrix => {
    const weight = find(name);
    if (weight === undefined) throw new UserError('BAD_MODEL', `the weights have no ${name}`);
    if (
      weight.shape.length === shape.length &&
      shape.every((size, axis) => size === undefined || size === weight.shape[axis])
    )
      return weight;
    const wanted = shape.map((size) => size ?? 'any').join(', ');
    throw new UserError('BAD_MODEL', `${name} is [${weight.shape.join(', ')}], the config says [${wanted}]`);
  };
  const vector = (name: string, length: number): Tensor => take(name, [length]) as Tensor;
  const optional = (name: string, length: number): Tensor | undefined =>
    find(name) === undefined ? undefined : vector(name, length);
  const norm = (name: string, length: number): Norm => {
    return { weight: vector(`${name}.weight`, length), bias: optional(`${name}.bias`, length) };
  };
  const product = (name: string, from: number | undefined, to: number | undefined): Product => {
    const weight = take(`${name}.weight`, [to, from]);
    return { weight, bias: optional(`${name}.bias`, weight.shape[0] ?? 0) };
  };
  /** Side by side, where the weights are floats: one launch for all of them. */
  const joined = (products: readonly Product[]): readonly Product[] => {
    const weights = products.map(({ weight }) => weight);
    const biases = products.flatMap(({ bias }) => bias ?? []);
    if (weights.some((each) => each instanceof QuantizedTensor)) return products;
    const weight = own(concat(weights as Tensor[]));
    const bias = biases.length === 0 ? undefined : own(concat(biases));
    for (const each of [...weights, ...biases]) {
      owned.delete(each);
      each.dispose();
    }
    return [{ weight, bias }];
  };
  try {
    const isGpt2 = config.rope === undefined;
    const tokens = take(isGpt2 ? 'wte.weight' : 'embed_tokens.weight', [undefined, undefined]);
    const width = tokens.shape[1] ?? 0;
    const [rowsQ, rowsKv] = [config.heads * config.headDim, config.kvHeads * config.headDim];
    const llama = (layer: number): Block => {
      const self = `layers.${layer}.self_attn`;
      const normOf = (name: string): Norm | undefined =>
        find(`${self}.${name}.weight`) === undefined ? undefined : norm(`${self}.${name}`, config.headDim);
      return {
        norm1: norm(`layers.${layer}.input_layernorm`, width),
        qkv: joined([
          product(`${self}.q_proj`, width, rowsQ),
          product(`${self}.k_proj`, width, rowsKv),
          product(`${self}.v_proj`, width, rowsKv),
        ]),
        ...{ qNorm: normOf('q_norm'), kNorm: normOf('k_norm') },
        merge: product(`${self}.o_proj`, rowsQ, width),
        norm2: norm(`layers.${layer}.post_attention_layernorm`, width),
        gate: product(`layers.${layer}.mlp.gate_proj`, width, undefined),
        up: product(`layers.${layer}.mlp.up_proj`, width, undefined),
        down: product(`layers.${layer}.mlp.down_proj`, undefined, width),
      };
    };
    /** Stored [in, out]; laid out as Llama's are, whose rows every backend reads as they are stored. */
    const turned = (name: string, from: number | undefined, to: number | undefined): Product => {
      const stored = take(`${name}.weight`, [from, to]) as Tensor;
      const weight = own(pack(transpose(stored)));
      owned.delete(stored);
      stored.dispose();
      return { weight, bias: optional(`${name}.bias`, weight.shape[0] as number) };
    };
    const gpt2 = (layer: number): Block => ({
      norm1: norm(`h.${layer}.ln_1`, width),
      qkv: [turned(`h.${layer}.attn.c_attn`, width, 3 * width)],
      ...{ qNorm: undefined, kNorm: undefined, gate: undefined },
      merge: turned(`h.${layer}.attn.c_proj`, width, width),
      norm2: norm(`h.${layer}.ln_2`, width),
      up: turned(`h.${layer}.mlp.c_fc`, width, undefined),
      down: turned(`h.${layer}.mlp.c_proj`, undefined, width),
    });
    const head = find('lm_head.weight');
    return tidy(() => ({
      ...{ tokens, head: { weight: head ?? tokens }, dispose },
      positions: isGpt2 ? (take('wpe.weight', [config.context, width]) as Tensor) : undefined,
      blocks: Array.from({ length: config.layers }, (_, layer) => (isGpt2 ? gpt2 : llama)(layer)),
      norm: norm(isGpt2 ? 'ln_f' : 'norm', width),
    }));
  } catch (error) {
    dispose();
    throw error;
  }
}
