import {
  add,
  cast,
  concat,
  concatWeights,
  pack,
  QuantizedTensor,
  quantizeWeight,
  type Tensor,
  tidy,
  transpose,
} from '@concord/ops';
import { UserError } from '@concord/example-command/user-error';
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
  /** Of what attention adds, and of what the MLP does. */
  readonly after1: Norm | undefined;
  readonly after2: Norm | undefined;
  readonly norm2: Norm;
  /** Of a gated MLP: by itself, or with `up` after it. */
  readonly gate: Product | undefined;
  readonly up: Product | undefined;
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

/** Options of {@link weightsOf}. */
export interface WeightOptions {
  /** Of vectors, as what they are added to. Default: as they are. */
  readonly dtype?: 'f32' | 'f16' | undefined;
  /** Bits of each weight of a product that is of floats, by blocks of 32. Default: as they are. */
  readonly quantize?: 'i8' | 'i4' | undefined;
}

/**
 * The weights of a decoder by their names in Transformers' files, of Llama's kind or GPT-2's.
 *
 * @param named - which it owns from now on
 * @throws {UserError} BAD_MODEL for a weight that is missing or of another shape
 */
export function weightsOf(named: NamedWeights, config: Config, { dtype, quantize }: WeightOptions = {}): Weights {
  const owned = new Set<Matrix>(Object.values(named));
  const dispose = (): void => owned.forEach((each) => each.dispose());
  /** What is made of others takes their place. */
  const made = <Of extends Matrix>(result: Of, ...of: readonly Matrix[]): Of => {
    owned.add(result);
    for (const each of of) {
      owned.delete(each);
      each.dispose();
    }
    return result;
  };
  const find = (name: string): Matrix | undefined => {
    const found = [name, `model.${name}`, `transformer.${name}`].find((each) => each in named);
    return found === undefined ? undefined : named[found];
  };
  const take = (name: string, shape: readonly (number | undefined)[]): Matrix => {
    const weight = find(name);
    if (weight === undefined) throw new UserError('BAD_MODEL', `the weights have no ${name}`);
    const fits = shape.every((size, axis) => size === undefined || size === weight.shape[axis]);
    if (fits && weight.shape.length === shape.length) return weight;
    const wanted = shape.map((size) => size ?? 'any').join(', ');
    throw new UserError('BAD_MODEL', `${name} is [${weight.shape.join(', ')}], the config says [${wanted}]`);
  };
  const vector = (name: string, length: number): Tensor => {
    const stored = take(name, [length]) as Tensor;
    return dtype === undefined || stored.dtype === dtype ? stored : made(cast(stored, dtype), stored);
  };
  const optional = (name: string, length: number): Tensor | undefined =>
    find(name) === undefined ? undefined : vector(name, length);
  const norm = (name: string, length: number): Norm => {
    const weight = vector(`${name}.weight`, length);
    const bias = optional(`${name}.bias`, length);
    return { weight: config.isNormOffset ? made(add(weight, 1), weight) : weight, bias };
  };
  const normIf = (name: string, length: number): Norm | undefined =>
    find(`${name}.weight`) === undefined ? undefined : norm(name, length);
  /** Several that take the same are side by side, where they are of one kind: one launch for all of them. */
  const products = (names: readonly (readonly [string, number | undefined])[], from?: number): readonly Product[] => {
    const own = names.map(([name, to]): Product => {
      const weight = take(`${name}.weight`, isGpt2 ? [from, to] : [to, from]);
      // Laid out as Llama's are, whose rows every backend reads as they are stored.
      const packed = isGpt2 ? made(pack(transpose(weight as Tensor)), weight) : weight;
      return { weight: packed, bias: optional(`${name}.bias`, packed.shape[0] ?? 0) };
    });
    const [weights, biases] = [own.map(({ weight }) => weight), own.flatMap(({ bias }) => bias ?? [])];
    const kinds = new Set(weights.map((each) => (each instanceof QuantizedTensor ? kindOf(each) : 'floats')));
    if (kinds.size > 1 || biases.length % own.length !== 0) return own;
    const one = (parts: readonly Tensor[]): Tensor =>
      parts.length === 1 ? (parts[0] as Tensor) : made(concat(parts), ...parts);
    const bias = biases.length === 0 ? undefined : one(biases);
    if (!kinds.has('floats')) {
      const parts = weights as QuantizedTensor[];
      return [{ weight: parts.length === 1 ? (parts[0] as Matrix) : made(concatWeights(parts), ...parts), bias }];
    }
    const all = one(weights as Tensor[]);
    const kind = { dtype: quantize === 'i4' ? 'u4' : 'i8', dtypeScales: 'f16' } as const;
    return [{ weight: quantize === undefined ? all : made(quantizeWeight(all, kind), all), bias }];
  };
  const product = (name: string, from?: number, to?: number): Product => products([[name, to]], from)[0] as Product;
  const isGpt2 = config.layers[0]?.frequencies === undefined;
  try {
    const tokens = take(isGpt2 ? 'wte.weight' : 'embed_tokens.weight', [undefined, undefined]);
    const width = tokens.shape[1] ?? 0;
    const [rowsQ, rowsKv] = [config.heads * config.headDim, config.kvHeads * config.headDim];
    const llama = (layer: string): Block => {
      const [self, mlp, after] = [`${layer}.self_attn`, `${layer}.mlp`, `${layer}.post_attention_layernorm`];
      const qkv = [[`${self}.q_proj`, rowsQ] as const, [`${self}.k_proj`, rowsKv] as const];
      // Gemma norms what a part gives, too.
      const isGemma = find(`${layer}.pre_feedforward_layernorm.weight`) !== undefined;
      const hidden = take(`${mlp}.gate_proj.weight`, [undefined, width]).shape[0];
      const gated = ['gate_proj', 'up_proj'].map((name) => [`${mlp}.${name}`, hidden] as const);
      // Biases are added before the activation: each by its own product.
      const isBiased = find(`${mlp}.gate_proj.bias`) !== undefined;
      const [gate, up] = isBiased ? gated.flatMap((each) => products([each], width)) : products(gated, width);
      return {
        norm1: norm(`${layer}.input_layernorm`, width),
        qkv: products([...qkv, [`${self}.v_proj`, rowsKv]], width),
        ...{ qNorm: normIf(`${self}.q_norm`, config.headDim), kNorm: normIf(`${self}.k_norm`, config.headDim) },
        merge: product(`${self}.o_proj`, rowsQ, width),
        after1: isGemma ? norm(after, width) : undefined,
        after2: normIf(`${layer}.post_feedforward_layernorm`, width),
        norm2: norm(isGemma ? `${layer}.pre_feedforward_layernorm` : after, width),
        ...{ gate, up, down: product(`${mlp}.down_proj`, undefined, width) },
      };
    };
    const gpt2 = (layer: string): Block => ({
      norm1: norm(`${layer}.ln_1`, width),
      qkv: products([[`${layer}.attn.c_attn`, 3 * width]], width),
      ...{ qNorm: undefined, kNorm: undefined, gate: undefined, after1: undefined, after2: undefined },
      merge: product(`${layer}.attn.c_proj`, width, width),
      norm2: norm(`${layer}.ln_2`, width),
      up: product(`${layer}.mlp.c_fc`, width),
      down: product(`${layer}.mlp.c_proj`, undefined, width),
    });
    const head = find('lm_head.weight');
    return tidy(() => ({
      ...{ tokens, head: { weight: head ?? tokens }, dispose },
      positions: isGpt2 ? (take('wpe.weight', [config.context, width]) as Tensor) : undefined,
      blocks: config.layers.map((_, layer) => (isGpt2 ? gpt2(`h.${layer}`) : llama(`layers.${layer}`))),
      norm: norm(isGpt2 ? 'ln_f' : 'norm', width),
    }));
  } catch (error) {
    dispose();
    throw error;
  }
}

/** The same for quantized weights that can be side by side. */
function kindOf({ dtype, block, scales, zeros, offsets }: QuantizedTensor): string {
  return [dtype, block, scales.dtype, zeros?.dtype, offsets?.dtype].join(' ');
}
