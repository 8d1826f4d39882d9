import type { Activation } from '@concord/ops';
import { UserError } from '@concord/example-command/user-error';

/** What a decoder must know besides its weights. */
export interface Config {
  readonly context: number;
  readonly layers: readonly Layer[];
  readonly heads: number;
  readonly kvHeads: number;
  readonly headDim: number;
  /** Of the norms. */
  readonly eps: number;
  /** Norms multiply by 1 more than their weights say. */
  readonly isNormOffset: boolean;
  readonly activation: Activation;
  /** Factor of the embeddings. */
  readonly embedScale: number;
  /** Limits c of scores and logits, which become `c tanh(x / c)`. */
  readonly softcap: { readonly scores: number | undefined; readonly logits: number | undefined };
  /** Which elements are a pair: see `rope` of `@concord/ops`. */
  readonly interleaved: boolean;
  /** Tokens that end a text. */
  readonly ends: readonly number[];
}

/** What layers differ in. */
export interface Layer {
  /** A token sees this number of tokens, itself included; undefined: all before it. */
  readonly window: number | undefined;
  /** Of rotary positions, in radians, `[headDim / 2]`; undefined: a learned position is added to each token. */
  readonly frequencies: Float32Array | undefined;
  /** Of scores. */
  readonly scale: number;
}

type Fields = Readonly<Record<string, unknown>>;

/** Kinds of models by `model_type`; all but GPT-2 are read alike. */
const KINDS = ['gpt2', 'llama', 'mistral', 'qwen2', 'qwen3', 'gemma2', 'gemma3_text'];

/** The names of sizes in GPT-2's files. */
const GPT2: Readonly<Record<string, string>> = {
  ...{ hidden_size: 'n_embd', num_attention_heads: 'n_head', num_hidden_layers: 'n_layer' },
  ...{ max_position_embeddings: 'n_positions', hidden_act: 'activation_function', rms_norm_eps: 'layer_norm_epsilon' },
};

/** The activations of published files, by our names. */
const ACTIVATIONS: Readonly<Record<string, Activation>> = {
  ...{ silu: 'silu', swish: 'silu', gelu: 'gelu', relu: 'relu' },
  ...{ gelu_new: 'geluTanh', gelu_pytorch_tanh: 'geluTanh', gelu_fast: 'geluTanh' },
};

/**
 * The decoder that a `config.json` of Transformers describes.
 *
 * @param file - for messages
 * @throws {UserError} BAD_MODEL for another kind of model, and for sizes that are missing or do not fit
 */
export function parseConfig(fields: Fields, file: string): Config {
  const refuse = (why: string): UserError =>
    new UserError('BAD_MODEL', `${file}: ${why}`, { hint: `models of these kinds run here: ${KINDS.join(', ')}` });
  const kind = (fields['model_type'] ?? 'gpt2') as string;
  if (!KINDS.includes(kind)) throw refuse(`is of the kind ${JSON.stringify(kind)}`);
  const [isGpt2, isGemma, isGemma3] = [kind === 'gpt2', kind.startsWith('gemma'), kind === 'gemma3_text'];
  const nameOf = (name: string): string => (isGpt2 ? (GPT2[name] ?? name) : name);
  const number = (name: string, otherwise?: number): number => Number(fields[nameOf(name)] ?? otherwise);
  const size = (name: string, otherwise?: number): number => {
    const value = fields[nameOf(name)] ?? otherwise;
    if (Number.isSafeInteger(value) && (value as number) > 0) return value as number;
    throw refuse(`${nameOf(name)} must be a size, got ${JSON.stringify(value)}`);
  };
  const [width, heads] = [size('hidden_size'), size('num_attention_heads')];
  const kvHeads = size('num_key_value_heads', heads);
  const headDim = number('head_dim', width / heads);
  if (!Number.isInteger(headDim)) throw refuse(`${heads} heads do not divide a width of ${width}`);
  if (heads % kvHeads !== 0) throw refuse(`${kvHeads} heads of keys do not divide ${heads} heads`);
  const named =
    fields['hidden_activation'] ?? fields[nameOf('hidden_act')] ?? (isGpt2 || isGemma ? 'gelu_new' : 'silu');
  const activation = ACTIVATIONS[named as string];
  if (activation === undefined) throw refuse(`has the activation ${JSON.stringify(named)}`);
  const context = size('max_position_embeddings');
  // One kind of layers, or those that see all and those that see a window, each with its rotary positions.
  const types = fields['layer_types'] as readonly string[] | undefined;
  const every = isGemma3 ? number('sliding_window_pattern', 6) : isGemma ? 2 : Infinity;
  const window = fields['use_sliding_window'] === false ? undefined : (fields['sliding_window'] ?? undefined);
  const scaling = Object(fields['rope_parameters'] ?? fields['rope_scaling'] ?? {}) as Record<string, Fields>;
  const base = number('rope_theta', isGemma3 ? 1e6 : 1e4);
  const kindOf = (own: Fields): Omit<Layer, 'window'> => {
    const [frequencies, factor] = isGpt2 ? [undefined, 1] : scaledRope(own, headDim, context, refuse);
    return { frequencies, scale: factor ** 2 / Math.sqrt(isGemma ? number('query_pre_attn_scalar', 256) : headDim) };
  };
  const whole = kindOf({ rope_theta: base, ...(scaling['full_attention'] ?? scaling) });
  const local = { rope_theta: number('rope_local_base_freq', 1e4), ...scaling['sliding_attention'] };
  const near = isGemma3 ? kindOf(local) : whole;
  const layers = Array.from({ length: size('num_hidden_layers') }, (_, layer): Layer => {
    const isWhole = types === undefined ? (layer + 1) % every === 0 : types[layer] === 'full_attention';
    return isWhole ? { ...whole, window: undefined } : { ...near, window: window as number | undefined };
  });
  const softcap = (name: string, otherwise: number): number | undefined =>
    fields[name] === undefined && kind === 'gemma2' ? otherwise : ((fields[name] as number | null) ?? undefined);
  return {
    ...{ context, layers, heads, kvHeads, headDim, activation, interleaved: false, isNormOffset: isGemma },
    ends: [fields['eos_token_id'] ?? []].flat().filter((each) => typeof each === 'number'),
    eps: number('rms_norm_eps', isGpt2 ? 1e-5 : 1e-6),
    embedScale: isGemma ? Math.sqrt(width) : 1,
    softcap: { scores: softcap('attn_logit_softcapping', 50), logits: softcap('final_logit_softcapping', 30) },
  };
}

/**
 * The frequencies `base^(-2 i / dim)`, scaled as `rope_scaling` says, and the factor of rotated queries and keys each: Transformers'
 * modeling_rope_utils.
 */
function scaledRope(
  scaling: Fields,
  dim: number,
  context: number,
  refuse: (why: string) => UserError,
): readonly [Float32Array, number] {
  const number = (name: string, otherwise: number): number => Number(scaling[name] ?? otherwise);
  const base = number('rope_theta', 10_000);
  const plain = Array.from({ length: dim / 2 }, (_, i) => base ** ((-2 * i) / dim));
  const factor = number('factor', 1);
  const trained = number('original_max_position_embeddings', context);
  const kind = scaling['rope_type'] ?? scaling['type'] ?? 'default';
  switch (kind) {
    case 'default':
      return [Float32Array.from(plain), 1];
    case 'linear':
      return [Float32Array.from(plain, (each) => each / factor), 1];
    case 'llama3': {
      const [low, high] = [number('low_freq_factor', 1), number('high_freq_factor', 4)];
      const scaled = (each: number): number => {
        // How many turns of it the trained context holds: few are stretched, many are left alone.
        const smooth = ((trained * each) / (2 * Math.PI) - low) / (high - low);
        const part = Math.min(1, Math.max(0, smooth));
        return (1 - part) * (each / factor) + part * each;
      };
      return [Float32Array.from(plain, scaled), 1];
    }
    case 'yarn': {
      // Peng et al., YaRN, 2023.
      const turnsAt = (turns: number): number =>
        (dim * Math.log(trained / (turns * 2 * Math.PI))) / (2 * Math.log(base));
      const first = Math.max(0, Math.floor(turnsAt(number('beta_fast', 32))));
      const last = Math.min(dim - 1, Math.ceil(turnsAt(number('beta_slow', 1))));
      const scaled = (each: number, i: number): number => {
        const stretched = Math.min(1, Math.max(0, (i - first) / Math.max(0.001, last - first)));
        return stretched * (each / factor) + (1 - stretched) * each;
      };
      const attention = number('attention_factor', factor <= 1 ? 1 : 0.1 * Math.log(factor) + 1);
      return [Float32Array.from(plain, scaled), attention];
    }
    default:
      throw refuse(`scales rotary positions by ${JSON.stringify(kind)}`);
  }
}
